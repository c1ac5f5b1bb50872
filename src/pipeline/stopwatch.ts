/** How long each stage took, in whole milliseconds, for the run's record. */
export class Stopwatch {
  readonly milliseconds: Record<string, number> = {};
  readonly #onStage: ((stage: string) => void) | undefined;

  constructor(onStage?: (stage: string) => void) {
    this.#onStage = onStage;
  }

  async time<Result>(stage: string, work: () => Promise<Result>): Promise<Result> {
    this.#onStage?.(stage);
    const from = performance.now();
    try {
      return await work();
    } finally {
      this.milliseconds[stage] = Math.round(performance.now() - from);
    }
  }
}
