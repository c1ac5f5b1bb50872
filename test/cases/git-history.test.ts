import { describe, expect, test } from 'vitest';
import { openTestDatabase } from '../support/database.ts';
import { openErrata } from '../support/errata.ts';
import { gitYaml, loadGitHistory, readGitCsv, readGitTotals } from './git-history.ts';

const parameterSets = {
  '7d': { delay: '7 days', lateness: '0', skew: 'none' },
  '1d_grace_2d': { delay: '1 day', lateness: '2 days', skew: '3 hours' },
} as const;

describe.each(Object.entries(parameterSets))('git history, %s', (name, parameters) => {
  test('one run', { timeout: 120_000 }, async () => {
    const database = await openTestDatabase();
    await loadGitHistory(database.pool);
    const errata = await openErrata(database, gitYaml({ ...parameters, policy: 'auto' }));
    const report = await errata.run();
    console.log(report.counts, report.stageMilliseconds);
    const totals = readGitTotals(name);
    expect(report.counts.rows_examined).toBe(totals.rows);
    const windows = await errata.rows(
      `select count(*) filter (where version = 1) v1, count(*) filter (where version > 1) corrected from gold.daily_changes`,
    );
    expect(windows[0]).toEqual({
      v1: String(totals.version_1),
      corrected: String(totals.corrected_under_auto),
    });
    const late = await errata.rows<{ line: string }>(
      `select event_id || ',' || landing || ',' || to_char(watermark, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ',' || to_char(window_start, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ',' || folder as line
       from gold.daily_changes_late_event where landing in ('late_firing', 'side_output') order by event_id collate "C"`,
    );
    expect(late.map((row) => row.line)).toEqual(readGitCsv(`expected_${name}_late_events`).slice(1));
  });
});
