// Reads as Cube does: with its own driver, and by models that its own compiler makes SQL of. In, as JSON on stdin: `{ host, port,
// database, user, password, queries: { name: sql }, model: { file: text }, asked: { name: query of Cube's } }`. Out, on
// stdout: `{ tables, answers: { name: { columns: [{ name, type }], rows, sql } | { error } } }`; `tables` is what Cube
// offers to model.
// The planner that compiles models without the native part.
process.env.CUBEJS_TESSERACT_SQL_PLANNER = 'false';
// The answer alone goes to stdout.
console.log = console.error;

const { PostgresDriver } = require('@cubejs-backend/postgres-driver');
const { json } = require('node:stream/consumers');

(async () => {
  const { queries, model, asked, ...connection } = await json(process.stdin);
  const driver = new PostgresDriver({ dataSource: 'default', ...connection });
  await driver.testConnection();
  const tables = await driver.tablesSchema();
  const all = Object.entries(queries).map(([name, sql]) => [name, sql, []]);
  if (model) all.push(...(await compiled(model, asked)));
  const answers = {};
  for (const [name, sql, values] of all) {
    try {
      const { types, rows } = await driver.downloadQueryResults(sql, values, {});
      answers[name] = { columns: types, rows, sql };
    } catch (error) {
      answers[name] = { error: error.message };
    }
  }
  await driver.release();
  process.stdout.write(JSON.stringify({ tables, answers }));
})();

async function compiled(model, asked) {
  const { prepareCompiler, PostgresQuery } = require('@cubejs-backend/schema-compiler');
  const dataSchemaFiles = async () =>
    Object.entries(model).map(([fileName, content]) => ({ fileName, content }));
  const { compiler, joinGraph, cubeEvaluator } = prepareCompiler(
    { localPath: () => '/', dataSchemaFiles },
    // The native part is fetched by an install script, which is not run; of it a model without Jinja needs nothing.
    { nativeInstance: { newJinjaEngine: () => ({}) } },
  );
  await compiler.compile();
  return Object.entries(asked).map(([name, query]) => {
    const { 0: sql, 1: values } = new PostgresQuery(
      { joinGraph, cubeEvaluator, compiler },
      query,
    ).buildSqlAndParams();
    return [name, sql, values];
  });
}
