/** What `errata verify` says of one rollup. */
import { counted } from '../../output/amount.ts';
import { windowText } from '../../output/window-text.ts';
import { keyText } from '../keyed-window.ts';
import type { Verification, WrongLink, WrongVersion } from './verify.ts';

/** @param keys the key columns in their order */
export function verificationText(
  found: Verification,
  keys: readonly string[],
  isDigestGiven: boolean,
): string {
  const { rollup, holds, link, waiting } = found;
  const covered = link
    ? `${counted(link.versions, 'version')} in ${counted(link.links, 'link')}`
    : 'no version is hashed yet';
  return [
    `${rollup}: ${covered}${holds ? (link ? ', all as they were published' : '') : '; not everything is as it was published'}`,
    ...versionLines(found, keys),
    ...found.wrong_links.map((wrong) => `  ${linkText(wrong)}`),
    ...moreLine(found.links_found, found.wrong_links.length, 'link'),
    ...found.guard.map(
      ({ relation, trigger_name: name, state }) =>
        `  guard    ${name === null ? relation : `trigger ${name} of ${relation}`} ${state}`,
    ),
    ...(waiting === '0'
      ? []
      : [`  waiting  ${counted(waiting, 'version')} not yet in a link: the next run does it`]),
    ...(isDigestGiven ? [`  digest   ${digestLine(found)}`] : []),
    ...(link ? [`  head     ${link.head}, run ${link.run_id}, ${link.stamp}`] : []),
    ...(found.guard.length > 0 ? ['  to put the guard back: `errata migrate`'] : []),
  ].join('\n');
}

function versionLines(
  { wrong_versions: wrong, versions_found: found }: Verification,
  keys: readonly string[],
): string[] {
  return [
    ...wrong.map((version) => `  ${versionText(version, keys)}`),
    ...moreLine(found, wrong.length, 'version'),
  ];
}

function versionText(
  { what, version, run_id: run, key, ...bounds }: WrongVersion,
  keys: readonly string[],
): string {
  const values = keyText(key, keys);
  const place = `${windowText(bounds)}${values ? `, ${values}` : ''}, version ${version}`;
  const cover =
    run !== null ? `hashed by run ${run}` : what === 'added' ? 'no run has hashed it' : 'of the stream';
  return `${what.padEnd(8)} ${place}: ${cover}`;
}

function linkText({ run_id: run, fault, versions, versions_hashed: hashed }: WrongLink): string {
  const said = {
    record: 'its record in the table of runs is not what it hashed',
    rows: `the hashes of its versions are not those that it linked (${hashed} then, ${versions} now)`,
    previous: 'the link before it is not the one that it followed',
    no_link: `${counted(versions, 'hash', 'hashes')} of versions name it, and it is no link`,
  }[fault];
  return `link     run ${run}: ${said}`;
}

function digestLine({ digest, link }: Verification): string {
  if (digest === null) return 'it says nothing of this rollup';
  if (digest.run_id === null) return 'it was taken before anything was hashed';
  if (digest.link === null)
    return `run ${digest.run_id} of ${digest.stamp} is no link any more: what was published by then has changed`;
  if (!digest.holds)
    return `the link of run ${digest.run_id} is another one: what was published by ${digest.stamp} has changed`;
  return `its head is link ${digest.link.links} of ${link?.links}, run ${digest.run_id}, ${digest.stamp}`;
}

function moreLine(found: string, shown: number, one: string): string[] {
  return Number(found) > shown
    ? [`  and ${counted(BigInt(found) - BigInt(shown), `${one} more`, `${one}s more`)}`]
    : [];
}
