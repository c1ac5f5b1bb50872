/**
 * A short name of one version, for a statement and for whoever holds it in hand (R21): the first 60 bits of the version's
 * hash, in twelve characters of Crockford's base 32, which has no letter that is read as another. Two of a hundred million
 * versions share one with a chance of about 1 in 200; both are then shown.
 */

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** `rowHash` in hexadecimal → `7K3Q-X9FJ-2M0A`. */
export function citationOf(rowHash: string): string {
  let rest = BigInt(`0x${rowHash.slice(0, 15)}`);
  let characters = '';
  for (let place = 0; place < 12; place++) {
    characters = alphabet[Number(rest & 31n)] + characters;
    rest >>= 5n;
  }
  return characters.replaceAll(/(.{4})(?=.)/g, '$1-');
}

/** The first fifteen hexadecimal digits of the hash; undefined where the text is no citation. O is read as 0, I and L as 1. */
export function hashOf(text: string): string | undefined {
  const plain = text.toUpperCase().replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (!/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/.test(plain)) return undefined;
  let bits = 0n;
  for (const character of plain.replaceAll('-', ''))
    bits = (bits << 5n) | BigInt(alphabet.indexOf(character));
  return bits.toString(16).padStart(15, '0');
}
