/** Which GRANT a refusal asks for, as far as PostgreSQL's English words tell it. */

const grants: Readonly<Record<string, (name: string) => string>> = {
  schema: (name) =>
    `grant usage on schema ${name} to the role, or usage, create where Errata makes relations`,
  database: (name) => `grant create, temporary on database ${name} to the role`,
  table: (name) =>
    `grant select on ${name} to the role; Errata’s own tables belong to the role that migrated`,
  view: (name) => `grant select on ${name} to the role`,
  relation: (name) => `grant select on ${name} to the role`,
  sequence: (name) => `grant usage on sequence ${name} to the role`,
  function: (name) => `grant execute on function ${name} to the role`,
};

/** `permission denied for schema gold` → `grant usage on schema gold to the role, …`. */
export function grantHint(message: string): string {
  const temporary = /permission denied to create temporary tables in database "([^"]+)"/.exec(message);
  if (temporary) return `grant temporary on database ${temporary[1]} to the role that Errata connects as`;
  const denied = /permission denied for (\w+)(?: "?([^"]+)"?)?$/.exec(message);
  const grant = grants[denied?.[1] ?? ''];
  if (denied?.[2] && grant) return grant(denied[2]);
  if (/^must be owner of/.test(message)) return 'connect as the role that ran `errata migrate` first';
  return 'grant it to the role that Errata connects as; `errata check` lists what is missing';
}
