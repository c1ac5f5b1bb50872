/** As much of a Node process as the choice looks at. */
export interface RunningNode {
  readonly versions: { readonly node: string };
  readonly execPath: string;
  readonly platform: string;
  readonly arch: string;
}

export type NodeChoice =
  | { readonly file: string; readonly args: readonly string[]; readonly problem?: never }
  | { readonly problem: string; readonly file?: never; readonly args?: never };

export function isSuitable(version: string): boolean;
export function findNode(running?: RunningNode, from?: string): NodeChoice;
export function refuse(sentence: string): never;
export const lean: readonly string[];
export function run(script: string, args: readonly string[], flags?: readonly string[]): void;
export const packageDirectory: string;
