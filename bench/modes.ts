/** `npm run bench`: runs over bronze, or with `views` what the views cost to read. */
const [mode] = process.argv.slice(2);
await import(mode === 'views' ? './views.ts' : './bench.ts');
