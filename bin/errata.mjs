#!/usr/bin/env node
// The command `errata`. In a checkout it runs the sources; below node_modules, where Node refuses to strip types,
// the compiled copy that the packed package carries.
import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { lean, packageDirectory, refuse, run } from './find-node.mjs';

const installed = packageDirectory.split(sep).includes('node_modules');
const source = join(packageDirectory, 'src', 'cli.ts');
const compiled = join(packageDirectory, 'dist', 'cli.js');
const script = !installed && existsSync(source) ? source : compiled;

if (!existsSync(script)) refuse(`Errata is not complete: ${script} is missing; install it again.`);
run(script, process.argv.slice(2), lean);
