#!/usr/bin/env node
// node bin/node.mjs SCRIPT [ARGUMENT…]: runs any script with a Node that is new enough for Errata.
import { refuse, run } from './find-node.mjs';

const [script, ...args] = process.argv.slice(2);
if (script === undefined) refuse('usage: node bin/node.mjs SCRIPT [ARGUMENT…]');
run(script, args);
