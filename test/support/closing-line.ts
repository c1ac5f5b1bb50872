import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Prints, as the very last line of a run, `N passed, N failed, N skipped`, which any CI can read. A test file that
 * could not be loaded or whose hook failed, and an error outside every test, count as failed: the line never says
 * that all is well when the exit code does not.
 */
export default class ClosingLine implements Reporter {
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  onInit(): void {
    // The global teardown still prints after the last event of a run; nothing does after this.
    process.once('exit', (code) => {
      const failed = this.#failed === 0 && code !== 0 ? 1 : this.#failed;
      process.stdout.write(`${this.#passed} passed, ${failed} failed, ${this.#skipped} skipped\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++;
      const broken = [module, ...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
      counts.failed += broken.length;
    }
    this.#passed = counts.passed;
    // A test that never got its turn has not passed.
    this.#failed = counts.failed + counts.pending;
    this.#skipped = counts.skipped;
  }
}
