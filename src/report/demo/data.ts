/** The demo for `--json`: the same figures, without the settings. */
import type { DemoPart, DemoReport } from './demo.ts';

export function demoData({ orders, day, git, milliseconds }: DemoReport): object {
  return { milliseconds, day, rollups: [orders, git].map(partData) };
}

function partData({ rollup, runs, ...found }: DemoPart): object {
  return {
    rollup: rollup.settings.name,
    runs: runs.map(({ runId, bound, stamp, watermark }) => ({ runId, bound, stamp, watermark })),
    ...found,
  };
}
