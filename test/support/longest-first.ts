/** The order of test files: those that take longest begin, so that at the end no worker waits for one of them. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const longest = ['git-history', 'peers', 'oracle', 'delay-by-key', 'source-partitions', 'demo', 'verbs'];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return place < 0 ? longest.length : place;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
