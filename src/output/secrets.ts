/** Passwords never appear in what is printed or logged, not even where another program quotes our URL or its answer. */
import type { Environment } from '../config/environment.ts';

/** Of the databases that this process has opened: what another program says may quote them anywhere, without a URL. */
const known = new Set<string>();
/** A shorter one would blot out ordinary words. */
const fewest = 6;

/** From here on these are hidden wherever they stand, as they are written in the URL and as they are sent. */
export function rememberPasswords(url: string | undefined, environment: Environment): void {
  const [, user = '', inUrl] = /^[a-z]+:\/\/([^:@/]*):(.*)@/i.exec(url ?? '') ?? [];
  const [, inQuery] = /[?&]password=([^&#]*)/.exec(url ?? '') ?? [];
  // one that is the name of its user is no secret, and the name is in many messages
  for (const password of [inUrl, inQuery, environment.PGPASSWORD])
    for (const form of [password, decoded(password)])
      if (form !== undefined && form.length >= fewest && form !== user) known.add(form);
}

function decoded(password: string | undefined): string | undefined {
  try {
    return password === undefined ? undefined : decodeURIComponent(password);
  } catch {
    return undefined;
  }
}

/** `postgres://etl:secret@db/orders` → `postgres://etl:***@db/orders`; also known passwords wherever they stand. */
export function hideSecrets(text: string, environment: Environment = {}): string {
  const hidden = text
    .replaceAll(/([a-z][a-z0-9+.-]*:\/\/[^\s:/@?#]*):[^\s/?#]*@/gi, '$1:***@')
    .replaceAll(/([?&]password=)[^\s&#]+/gi, '$1***');
  const { PGPASSWORD: password } = environment;
  const passwords = [...known, ...(password && password.length >= fewest ? [password] : [])];
  return passwords
    .sort((a, b) => b.length - a.length)
    .reduce((shown, one) => shown.replaceAll(one, '***'), hidden);
}
