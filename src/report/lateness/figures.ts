/** Shares and lateness for people; both come as decimal text, and JSON keeps all their digits. */

const units = [
  ['d', 86_400n],
  ['h', 3_600n],
  ['min', 60n],
  ['s', 1n],
] as const;

/**
 * Seconds in their two greatest units, below a minute to three digits that count: `2280` → `38 min`,
 * `194930.5` → `2 d 6 h`, `20.2571` → `20.3 s`; null → `-`.
 */
export function secondsText(seconds: string | null): string {
  if (seconds === null) return '-';
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(seconds) ?? [];
  let rest = BigInt(whole);
  if (rest < 60n) return `${sign}${Number(Number(`${whole}.${fraction}`).toPrecision(3))} s`;
  const words: string[] = [];
  for (const [unit, size] of units) {
    const count = rest / size;
    rest %= size;
    if (words.length === 0 && count === 0n) continue;
    if (count > 0n) words.push(`${count} ${unit}`);
    if (words.length === 2 || count === 0n) break;
  }
  return sign + words.join(' ');
}

/** A share of one in percent, to three digits that count: `0.1428571429` → `14.3 %`, `0.00012` → `0.012 %`; null → `-`. */
export function percentText(share: string | null): string {
  if (share === null) return '-';
  const percent = Number(share) * 100;
  if (percent === 0) return '0 %';
  return `${Number(percent.toPrecision(3))} %`;
}
