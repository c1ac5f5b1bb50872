import type { z } from 'zod';
import type { Faults } from '../faults.ts';
import { leaf, section } from '../leaf.ts';
import { readName } from '../name.ts';
import type { Places } from '../place.ts';
import type { Reading } from '../reading.ts';
import type { RoleSettings } from '../settings.ts';

const role = leaf(readRole, 'write the name of a database role');

export const rolesShape = section(
  {
    job: role
      .optional()
      .describe('Owns what Errata makes and runs the job; left out: whoever runs `migrate`.'),
    stream: role.optional().describe('Writes version 1 and the log of watermarks, and reads nothing.'),
    reader: role.optional().describe('Reads the views, and not the ledger.'),
    auditor: role.optional().describe('Reads everything of Errata, and writes nothing.'),
  },
  'write { job: errata_job, stream: errata_stream, reader: errata_reader, auditor: errata_auditor }',
);

/** PostgreSQL takes these for something else than a role of that name, in quotes too: a grant to "public" is to everyone. */
function readRole(text: string): Reading<string> {
  if (text === 'public' || text === 'none') return { wrong: 'names no role; write the name of one' };
  if (text.startsWith('pg_')) return { wrong: 'belongs to PostgreSQL; write a role of your own' };
  return readName(text);
}

/** One role for two would hold the rights of both. */
export function roleFaults(raw: Readonly<Record<string, unknown>>, faults: Faults): void {
  const names = Object.entries(raw).filter(([, name]) => typeof name === 'string');
  for (const [place, [part, name]] of names.entries()) {
    const first = names.slice(0, place).find(([, other]) => other === name);
    if (first)
      faults.about(['roles', part], `is the role of roles.${first[0]} too; write a role of its own for each`);
  }
}

export function roleSettings(
  roles: z.output<typeof rolesShape> | undefined,
  places: Places,
): RoleSettings | undefined {
  return roles && { ...roles, position: { line: places.key(['roles']).line } };
}
