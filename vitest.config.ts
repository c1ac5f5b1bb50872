import { defineConfig } from 'vitest/config';
import LongestFirst from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/server.ts'],
    setupFiles: ['test/support/file-end.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    // Two cores and one server: a third file at a time only makes all of them slower.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
