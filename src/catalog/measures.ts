/** What the database says of a rollup's measures: their types, and whether they can be trusted and added up (R13, R14). */
import type { RollupSettings } from '../config/settings.ts';
import type { ControlTransaction } from '../db/transaction.ts';
import type { AddFault } from './describe.ts';
import { canBeCompared, type Probe, probeExpression } from './probe.ts';
import type { Measure } from './rollup.ts';

const exactTypes = /^(smallint|integer|bigint|numeric(\(.*\))?|interval.*|money)$/;
const numericTypes = /^(smallint|integer|bigint|real|double precision|numeric(\(.*\))?)$/;

export async function describeMeasures(
  transaction: ControlTransaction,
  settings: RollupSettings,
  fault: AddFault,
): Promise<{ measures: Measure[]; columns: string[] }> {
  const measures: Measure[] = [];
  const columns = new Set<string>();
  for (const { name, expression, tolerance, additive } of settings.measures) {
    const path = `measures.${name}`;
    const probe = await probeExpression(transaction, settings.bronze.table, expression);
    if ('refused' in probe) {
      fault(
        path,
        `"${expression}": ${probe.refused}`,
        'write an aggregate over columns of bronze; functions outside pg_catalog need their schema',
      );
      continue;
    }
    if (!probe.is_aggregate) {
      fault(path, `"${expression}" is no aggregate`, 'write one, such as sum(amount)');
      continue;
    }
    if (probe.volatile_functions) {
      fault(
        path,
        `"${expression}" calls ${probe.volatile_functions.join(', ')}, whose value changes from call to call`,
        'a version must come out the same when it is computed again',
      );
    }
    if (probe.has_subquery) {
      fault(
        path,
        `"${expression}" has a subquery, whose rows may be others when it is computed again`,
        'write an aggregate over columns of bronze alone',
      );
    }
    if (probe.reads_clock && !probe.volatile_functions) {
      fault(
        path,
        `"${expression}" depends on the moment or the session in which it is computed`,
        'a version must come out the same when it is computed again: use columns of bronze alone',
      );
    }
    if (probe.sums_floats && tolerance === undefined) {
      fault(
        path,
        `"${expression}" adds up floats, so its value depends on the order of rows`,
        `cast to numeric inside the aggregate, or give a tolerance`,
      );
    }
    if (!(await canBeCompared(transaction, probe.result_type_id))) {
      fault(
        path,
        `"${expression}" has type ${probe.result_type}, whose values cannot be compared with an older version's`,
        'cast it, such as to text or jsonb',
      );
    }
    const isNumeric = numericTypes.test(probe.result_type);
    if (tolerance !== undefined && !isNumeric) {
      fault(
        path,
        `a tolerance needs a number, and "${expression}" has type ${probe.result_type}`,
        'leave the tolerance out',
      );
    }
    if (settings.publish.reviewBeyond[name] !== undefined && !isNumeric) {
      fault(
        `publish.review_beyond.${name}`,
        `a threshold needs a number, and "${expression}" has type ${probe.result_type}`,
        'leave the threshold out',
      );
    }
    if (additive === true && !isNumeric) {
      fault(
        path,
        `only numbers are additive, and "${expression}" has type ${probe.result_type}`,
        'leave additive out, or cast it to a number',
      );
    }
    for (const column of probe.columns ?? []) columns.add(column);
    measures.push({
      name,
      type: probe.result_type,
      expression,
      tolerance,
      isNumeric,
      isAdditive:
        additive ??
        (isAdditiveAggregate(probe.whole_aggregate) && exactTypes.test(probe.result_type) && isNumeric),
      isCountOfRows: probe.is_count_of_rows === true,
      mergedBy: mergedBy(probe),
    });
  }
  return { measures, columns: [...columns] };
}

/** Counts and sums that do not depend on the order of rows add up; the least of partials is the least of all. */
function mergedBy({ whole_aggregate: name, result_type: type }: Probe): Measure['mergedBy'] {
  if (name === 'min' || name === 'max') return name;
  return isAdditiveAggregate(name) && exactTypes.test(type) ? 'sum' : undefined;
}

function isAdditiveAggregate(name: string | null): boolean {
  return name === 'count' || name === 'sum';
}
