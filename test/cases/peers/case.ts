/** The cases of peers as they are written down; README.md beside this file says what they mean. */
import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds since 1970 (`ms`), seconds (`int`), or ISO text (`iso`). */
export type Time = number | string;
export type Value = number | string | readonly (number | string)[];

export interface Event {
  readonly id: string;
  readonly key?: string | undefined;
  readonly partition?: string | number;
  readonly event_time: Time;
  readonly value?: number | string;
}

export interface Range {
  readonly from: Time | null;
  readonly to: Time | null;
}

export interface Step {
  readonly event?: Event;
  readonly partition?: string | number;
  readonly watermark?: number;
  readonly idle?: string | number;
  readonly active?: string | number;
  readonly unregister?: string | number;
  readonly restart?: boolean;
  readonly batch?: readonly { readonly partition: string; readonly event_times: readonly number[] }[];
  readonly check?: number;
  readonly row?: number;
  readonly insert?: readonly Omit<Event, 'id'>[];
  readonly insert_series?: {
    readonly from: Time;
    readonly to_inclusive: Time;
    readonly step: number;
    readonly key: string;
    readonly value: number;
  };
  readonly refresh?: Range;
  readonly delete_rows?: Range;
}

export interface Total {
  readonly key: string;
  readonly start: Time;
  readonly end?: Time;
  readonly value: Value;
}

export interface Pane extends Total {
  readonly timing: 'on-time' | 'late';
  readonly after_step: number;
}

export interface Check {
  readonly after_step: number;
  readonly stale?: readonly (readonly [Time | null, Time | null])[];
  readonly values?: readonly Total[];
}

export interface Expected {
  readonly panes?: readonly Pane[];
  readonly side_output?: readonly string[];
  readonly dropped_pairs?: readonly (readonly [string, number, number])[];
  readonly final_latest?: readonly Total[];
  readonly final_emissions?: readonly (Total & { readonly after_step: number })[];
  readonly combined?: readonly {
    readonly after_step: number;
    readonly watermark: number | null;
    readonly all_idle?: boolean;
  }[];
  readonly final_watermark?: number;
  readonly idle?: readonly { readonly after_step: number; readonly idle: boolean }[];
  readonly accepted?: readonly string[];
  readonly duplicates?: readonly string[];
  readonly dropped_late?: readonly string[];
  readonly merged?: readonly (readonly [number, number])[];
  readonly checks?: readonly Check[];
}

export interface Item {
  readonly event_time: Time;
  readonly windows?: readonly (readonly [number, number])[];
  readonly start?: string;
  readonly end?: string;
  readonly derived_start_utc?: string;
  readonly derived_end_utc?: string;
  readonly local_start?: string;
  readonly local_end?: string;
}

export interface Peer {
  readonly id: string;
  readonly kind:
    | 'lateness'
    | 'refresh'
    | 'watermark_merge'
    | 'watermark_from_rows'
    | 'idleness'
    | 'dedup'
    | 'assignment'
    | 'assignment_local'
    | 'session_merge'
    | 'bucketing'
    | 'bucketing_local';
  readonly title: string;
  readonly time_unit: 'ms' | 'iso' | 'int';
  readonly window?: {
    readonly type: 'tumbling' | 'hopping' | 'session';
    readonly size?: number;
    readonly slide?: number;
    readonly gap?: number;
    readonly offset?: number;
    readonly width?: { readonly us?: number; readonly months?: number };
    readonly width_text?: string;
    readonly offset_text?: string;
    readonly origin_local?: string;
    readonly time_zone?: string;
  };
  readonly watermark?: {
    readonly strategy: string;
    readonly convention?: 'inclusive' | 'exclusive' | 'strict_deadline';
    readonly policy?: 'min' | 'max';
    readonly delay?: number;
    readonly inputs?: readonly (string | number | { readonly partition: string; readonly delay: number })[];
    readonly idle_timeout?: number;
  };
  readonly allowed_lateness?: number;
  readonly aggregate?: 'sum' | 'count' | 'collect' | 'avg' | 'max';
  readonly steps?: readonly Step[];
  readonly items?: readonly Item[];
  readonly rows?: readonly number[];
  readonly proto_windows?: readonly (readonly [number, number])[];
  readonly derived?: { readonly sum_of_panes_per_window?: readonly Total[] };
  readonly expected: Expected;
}

export const peers: readonly Peer[] = readdirSync(new URL('.', import.meta.url))
  .filter((name) => name.endsWith('.jsonl'))
  .sort()
  .flatMap((name) =>
    readFileSync(new URL(name, import.meta.url), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Peer),
  );

export const isSession = ({ window }: Peer): boolean => window?.type === 'session';

export function peersOf(...kinds: Peer['kind'][]): Peer[] {
  return peers.filter((peer) => kinds.includes(peer.kind));
}

/** Since 1970. */
export function millisecondsOf({ time_unit: unit }: Pick<Peer, 'time_unit'>, time: Time): number {
  if (typeof time === 'string') return Date.parse(time.endsWith('Z') ? time : `${time}Z`);
  return unit === 'int' ? time * 1000 : time;
}

/** `key [start, end) value`; the end where it is given. A list is its members in order of arrival. */
export function lineOf(peer: Peer, { key, start, end, value }: Total): string {
  const [from, to] = [start, end].map((time) => (time === undefined ? '' : millisecondsOf(peer, time)));
  return `${key} [${from}, ${to}) ${Array.isArray(value) ? value.join(',') : value}`;
}
