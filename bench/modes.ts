/** `npm run bench`: runs over bronze; with `views` what the views cost to read, with `load` what an index costs to keep. */
const modes: Readonly<Record<string, string>> = { views: './views.ts', load: './load.ts' };
await import(modes[process.argv[2] ?? ''] ?? './bench.ts');
