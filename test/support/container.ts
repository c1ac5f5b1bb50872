import type { TestServer } from './server.ts';

const image = 'postgres:18';

/** Undefined where a container runtime answers, else the reason why none is used, in a few words. */
export async function findContainerRuntime(): Promise<string | undefined> {
  try {
    const { getContainerRuntimeClient } = await import('testcontainers');
    await getContainerRuntimeClient();
    return undefined;
  } catch (error) {
    return `no container runtime: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * A PostgreSQL in a container of its own, with these settings and without durability. It ends with this process, also
 * when that is killed: testcontainers has a container of its own that sees to it.
 * @throws what testcontainers throws, for example if the image can neither be found nor fetched.
 */
export async function startContainer(settings: Readonly<Record<string, string>>): Promise<TestServer> {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const all = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    timezone: 'UTC',
    ...settings,
  };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const container = await new PostgreSqlContainer(image).withCommand(['postgres', ...options]).start();
  const stop = async () => {
    await container.stop();
  };
  return {
    name: `container ${image}`,
    url: container.getConnectionUri(),
    keptUntil: 'until this run ends; set TEST_DATABASE_URL to keep it longer',
    stop,
    keep: stop,
  };
}
