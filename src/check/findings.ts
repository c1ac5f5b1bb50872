/** What `check` has found about one rollup. A fault keeps it from running right; a warning costs time or a guarantee. */
import type { Fault } from '../catalog/describe.ts';
import type { RollupSettings } from '../config/settings.ts';

export class Findings {
  readonly faults: Fault[] = [];
  readonly warnings: Fault[] = [];
  readonly #settings: RollupSettings;

  constructor(settings: RollupSettings) {
    this.#settings = settings;
  }

  /** @param path below the rollup, as in `bronze.event_time`; empty: the rollup itself */
  fault(path: string, fact: string, hint: string): void {
    this.faults.push(this.#at(path, fact, hint));
  }

  warn(path: string, fact: string, hint: string): void {
    this.warnings.push(this.#at(path, fact, hint));
  }

  #at(path: string, fact: string, hint: string): Fault {
    const place = ['rollups', this.#settings.name, ...(path === '' ? [] : [path])].join('.');
    return { place, line: this.#settings.position.line, fact, hint };
  }
}
