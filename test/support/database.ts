import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect, inject } from 'vitest';
import { createPool } from '../../src/db/pool.ts';
import { onFileEnd } from './file-end.ts';
import { databaseUrl, execute, migratedTemplate } from './template.ts';

/** A database of a test file's own. */
export interface TestDatabase {
  readonly url: string;
  /** The product's pool, on this database. */
  readonly pool: pg.Pool;
  /** Ends the pool. May be left out: the end of the test file does it, and then drops or keeps the database. */
  close(): Promise<void>;
}

/**
 * Copies the run's template database (about 25 ms) and opens it. May be called at the top of a test file, in a hook
 * or in a test. The database is dropped when the file ends, unless one of its tests has failed: then it stays, and
 * how to open it is printed.
 * @param begin `migrated`: with the control tables in the schema `errata`.
 */
export async function openTestDatabase(begin: 'empty' | 'migrated' = 'empty'): Promise<TestDatabase> {
  const [server, template] = [inject('testServerUrl'), inject('testTemplate')];
  const name = databaseName(template, expect.getState().testPath ?? 'test');
  await execute(
    server,
    `create database ${pg.escapeIdentifier(name)} template ${pg.escapeIdentifier(begin === 'empty' ? template : migratedTemplate(template))}`,
  );
  const url = databaseUrl(server, name);
  const pool = createPool(url, { max: 10 });

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= Promise.race([pool.end(), pause(2000, undefined, { ref: false })]);
    return closing;
  };
  onFileEnd(async (failed) => {
    await close();
    if (failed) console.error(`kept ${inject('testKeptUntil')}: psql '${url}'`);
    else await execute(server, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
  });
  return { url, pool, close };
}

/** `<template>_<test file>_<random>`, within PostgreSQL's 63 bytes. */
function databaseName(template: string, testPath: string): string {
  const stem = basename(testPath)
    .replace(/\.test\.ts$/, '')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
  return `${template}_${stem.slice(0, 30)}_${randomBytes(3).toString('hex')}`;
}
