// Reads as Evidence does when it builds a site, with its own driver. In, as JSON on stdin: `{ host, port, database, user, password,
// queries: { name: sql } }`. Out, on stdout: `{ answers: { name: { columns: [{ name, type }], rows } | { error } } }`.
const { getRunner, testConnection } = require('@evidence-dev/postgres');
const { json } = require('node:stream/consumers');

(async () => {
  const { queries, ...connection } = await json(process.stdin);
  const isThere = await testConnection(connection);
  if (isThere !== true) throw new Error(isThere.reason);
  const run = await getRunner(connection);
  const answers = {};
  for (const [name, sql] of Object.entries(queries)) {
    try {
      const { columnTypes, rows } = await run(sql, `${name}.sql`, 1000);
      const all = [];
      for await (const batch of rows()) all.push(...batch);
      const columns = columnTypes.map(({ name, evidenceType, typeFidelity }) => ({
        name,
        type: typeFidelity === 'precise' ? evidenceType : `${evidenceType} (${typeFidelity})`,
      }));
      answers[name] = { columns, rows: all };
    } catch (error) {
      answers[name] = { error: error.message };
    }
  }
  process.stdout.write(JSON.stringify({ answers }), () => {
    // The driver leaves its connection open after a query that failed.
    process.exit();
  });
})();
