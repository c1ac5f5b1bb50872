/** `npm run bench`: runs over bronze; with a word one thing by itself: each file says which. */
const modes: Readonly<Record<string, string>> = {
  views: './views.ts',
  load: './load.ts',
  bounded: './bounded.ts',
};
await import(modes[process.argv[2] ?? ''] ?? './bench.ts');
