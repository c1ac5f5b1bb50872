import { describe, expect, test } from 'vitest';

import { openTestDatabase } from '../support/database.ts';
import { openErrata, type TestErrata } from '../support/errata.ts';
import {
  expectGitHistory,
  gitYaml,
  land,
  loadGitHistory,
  parameterSets,
  readGitTotals,
} from './git-history.ts';

type Name = keyof typeof parameterSets;

async function openGit(name: Name, policy: 'auto' | 'grace'): Promise<TestErrata> {
  const database = await openTestDatabase('migrated');
  await loadGitHistory(database.pool);
  return await openErrata(database, gitYaml({ ...parameterSets[name], policy }));
}

/** 257 runs take a minute; ERRATA_HISTORIES, which lengthens the oracle too, asks for them. */
const isLong = process.env.ERRATA_HISTORIES !== undefined;

describe.each(Object.keys(parameterSets) as Name[])('the git history, %s', (name) => {
  test.each(['auto', 'grace'] as const)('in one run under %s', { timeout: 60_000 }, async (policy) => {
    const errata = await openGit(name, policy);
    await land(errata, null, null);
    const { counts } = await errata.run();
    const totals = readGitTotals(name);
    expect(counts).toMatchObject({
      rows_examined: totals.rows,
      quarantined: totals.quarantined,
      windows_sealed: totals.version_1,
      windows_corrected: policy === 'auto' ? totals.corrected_under_auto : totals.corrected_under_grace,
    });
    await expectGitHistory(errata, name, policy);
  });

  test('in a run a year, in the long mode a month', { timeout: 240_000 }, async () => {
    const errata = await openGit(name, 'auto');
    const months = await errata.rows<{ bound: string }>(
      `select distinct (date_trunc('month', ingested_at, 'UTC') + interval '1 month')::text as bound from staging.changes order by 1`,
    );
    expect(months.length).toBe(257);
    await runInCuts(
      errata,
      months.filter((_, n) => isLong || n % 12 === 4).map((month) => month.bound),
    );
    await expectGitHistory(errata, name, 'auto');
  });

  test.skipIf(!isLong && name === '7d')(
    'in random cuts, at arrivals and between them',
    { timeout: 240_000 },
    async () => {
      const errata = await openGit(name, 'auto');
      const cuts = await errata.rows<{ bound: string }>(
        `select bound::text from (
         select setseed(0.8841)
       ) as seed, lateral (
         select distinct ingested_at + (case when random() < 0.5 then 0 else random() * 1000000 end)::int * interval '1 second' as bound
         from staging.changes where random() < 0.0008 and seed is not null
       ) as cut order by cut.bound`,
      );
      expect(cuts.length).toBeGreaterThan(30);
      await runInCuts(
        errata,
        cuts.map((cut) => cut.bound),
      );
      await expectGitHistory(errata, name, 'auto');
    },
  );
});

/** Lands and runs slice by slice; the last slice has no end. */
async function runInCuts(errata: TestErrata, bounds: readonly string[]): Promise<void> {
  let after: string | null = null;
  for (const bound of bounds) {
    await land(errata, after, bound);
    await errata.run({ bound });
    after = bound;
  }
  await land(errata, after, null);
  await errata.run();
}
