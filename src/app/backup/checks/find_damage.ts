/** Finds the objects of a backup that are damaged or missing, once its verification has failed. */
import { finished } from 'node:stream/promises';
import { readContents } from '../contents.ts';
import { listChunks, loadStoredDatabase } from '../database_chunks.ts';
import type { ContentLine, Manifest } from '../manifest.ts';
import { type BackupReader, openObject, recordDamage } from '../places/backup_place.ts';
import { isDamage } from './is_damage.ts';

export type Damage = {
  sha256: string;
  /** What the object is: `a pack of project 7`. */
  label: string;
  problem: string;
};

/** Objects that an error message names. */
const maxNamed = 5;

const readWhole = async (place: BackupReader, sha256: string): Promise<void> => {
  const stream = await openObject(place, sha256);
  await finished(stream.resume());
};

type Labelled = readonly [label: string, sha256: string];

const labelLine = (line: ContentLine): Labelled[] => {
  if (line.kind === 'blob') return [[`a file of ${line.area}`, line.sha256]];
  if (line.kind === 'log') return [[`the log ${line.path}`, line.sha256]];
  const packs = line.packs.map(({ sha256 }): Labelled => [`a pack of project ${line.project_id}`, sha256]);
  return [...packs, [`the refs of project ${line.project_id}`, line.refs.sha256]];
};

/** Yields what a list names. A list that is damaged itself names nothing. */
const readList = async function* readList(items: () => AsyncIterable<Labelled>): AsyncGenerator<Labelled> {
  try {
    yield* items();
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
};

const listObjects = async function* listObjects(
  place: BackupReader,
  manifest: Manifest,
): AsyncGenerator<Labelled> {
  yield ['the database', manifest.database.sha256];
  yield ['the list of files', manifest.contents.sha256];
  if (manifest.secrets !== null) yield ['the secrets', manifest.secrets.sha256];
  yield* readList(async function* chunks() {
    const database = await loadStoredDatabase(place, manifest);
    for (const sha256 of database === null ? [] : listChunks(database))
      yield ['a part of the database', sha256];
  });
  yield* readList(async function* lines() {
    for await (const line of readContents(place, manifest)) yield* labelLine(line);
  });
};

/**
 * Reads every object of a backup once more, and returns those that are damaged or missing.
 * @throws any other error of the place
 */
const findDamage = async (place: BackupReader, manifest: Manifest): Promise<Damage[]> => {
  const damaged: Damage[] = [];
  const seen = new Set<string>();
  for await (const [label, sha256] of listObjects(place, manifest)) {
    if (seen.has(sha256)) continue;
    seen.add(sha256);
    try {
      await readWhole(place, sha256);
    } catch (error) {
      if (!isDamage(error)) throw error;
      damaged.push({ sha256, label, problem: (error as Error).message });
    }
  }
  return damaged;
};

/**
 * Finds and records the damaged objects of a backup, so that the next backup stores them again.
 * @returns a text for the operator; null: no object is damaged
 */
export const describeDamage = async (place: BackupReader, manifest: Manifest): Promise<string | null> => {
  const damaged = await findDamage(place, manifest);
  if (damaged.length === 0) return null;
  const isRecorded = await recordDamage(
    place,
    damaged.map(({ sha256 }) => sha256),
  );
  const named = damaged.slice(0, maxNamed).map(({ problem, label }) => `${problem} (${label})`);
  const more = damaged.length > maxNamed ? [`${damaged.length - maxNamed} more`] : [];
  const remedy = isRecorded
    ? 'the next backup stores again what the instance has of it'
    : 'the damage could not be recorded there: run "gantry backup verify" where the place can be written';
  return `${[...named, ...more].join('; ')}; ${place.writeText === null ? 'make another' : remedy}`;
};
