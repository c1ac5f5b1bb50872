/** Passwords never appear in what is printed or logged, not even where another program quotes our URL. */
import type { Environment } from '../config/environment.ts';

/** `postgres://etl:secret@db/orders` → `postgres://etl:***@db/orders`; also the value of PGPASSWORD wherever it stands. */
export function hideSecrets(text: string, environment: Environment): string {
  const hidden = text
    .replaceAll(/([a-z][a-z0-9+.-]*:\/\/[^\s:/@?#]*):[^\s/?#]*@/gi, '$1:***@')
    .replaceAll(/([?&]password=)[^\s&#]+/gi, '$1***');
  const password = environment.PGPASSWORD;
  // A shorter one would blot out ordinary words.
  return password && password.length >= 6 ? hidden.replaceAll(password, '***') : hidden;
}
