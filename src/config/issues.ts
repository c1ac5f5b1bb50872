import type { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';
import type { Faults } from './faults.ts';
import type { Path } from './place.ts';

type Issue = z.core.$ZodIssue;

/** Turns what zod found in `root` into faults. The messages in the issues are those of `leaf.ts`: what to write. */
export function reportIssues(issues: readonly Issue[], root: unknown, faults: Faults): void {
  for (const issue of issues) report(issue, issue.path as Path, root, faults);
}

function report(issue: Issue, path: Path, root: unknown, faults: Faults): void {
  const value = valueAt(root, path);
  if (issue.code === 'unrecognized_keys') {
    const known = issue.message.split(' ');
    for (const key of issue.keys) {
      const near = didYouMean(key, known);
      const remedy = near === undefined ? `write one of ${known.join(', ')}` : `did you mean ${near}?`;
      faults.aboutKey([...path, key], `is not a setting here; ${remedy}`);
    }
  } else if (issue.code === 'invalid_union') {
    const branch = issue.errors.find((errors) => !errors.some(isOfAnotherKind));
    if (branch === undefined) faults.about(path, `is ${kindOf(value)}; ${issue.message}`);
    else for (const inner of branch) report(inner, [...path, ...(inner.path as Path)], root, faults);
  } else if (issue.code === 'custom' && typeof value === 'string') {
    faults.aboutText(path, value, issue.message);
  } else if (issue.code === 'invalid_value' && typeof value === 'string') {
    faults.aboutText(path, value, `is not one of the choices; ${issue.message}`);
  } else {
    faults.about(path, `is ${kindOf(value)}; ${issue.message}`);
  }
}

/** The branch of a union that was not meant: a text where it wants a mapping, or the like. */
function isOfAnotherKind(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0;
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) value = (value as Record<string | number, unknown> | undefined)?.[step];
  return value;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'boolean' ? 'true or false' : 'a single value';
}
