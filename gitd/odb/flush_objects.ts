/** Puts the objects of a write on disk, before refs point to them. */
import { join } from 'node:path';
import { reachFaultPoint } from '../fault_points.ts';
import type { Oid } from '../protocol_records.ts';
import { makeObjectWriter, type ObjectWriter } from './loose_object_writer.ts';
import type { Quarantine } from './quarantine.ts';

/** Opens a writer of loose objects into a repository's folder. */
export const makeRepositoryWriter = ({ dir }: { dir: string }): ObjectWriter =>
  makeObjectWriter(join(dir, 'objects'));

/** Writes everything the writer holds; all of it is on disk when this resolves. */
export const flushObjects = async (writer: ObjectWriter): Promise<void> => {
  await writer.flush();
  reachFaultPoint('objects.written');
};

/**
 * Moves the new objects of a quarantine into the repository; they are on disk when this resolves.
 * @param except objects that stay behind
 */
export const keepObjects = async (quarantine: Quarantine, except?: Iterable<Oid>): Promise<void> => {
  await quarantine.keep(except);
  reachFaultPoint('objects.written');
};
