import type { Readable } from 'node:stream';
import { type Call, requireActor } from '../../core/access/call.ts';
import { type Stored, getProjectArea } from '../../platform/blob/blob_files.ts';
import { isDiskFailure, unavailable } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { receiveFile } from '../../platform/http/body/upload.ts';
import { holdProject } from '../projects/lock_project.ts';
import type { UploadRow } from './json.ts';
import { cleanName, getMaxFileBytes, tooBig } from './rules.ts';

type Received = Stored & { file_name: string };

const keep = async ({ platform }: Call, projectId: number, content: Readable): Promise<Stored> => {
  try {
    return await platform.blobs.put(getProjectArea(projectId), content);
  } catch (error) {
    throw isDiskFailure(error) ? unavailable() : error;
  }
};

const receive = async (call: Call, projectId: number): Promise<Received> =>
  await receiveFile(call.incoming, {
    field: 'file',
    limit: getMaxFileBytes(call.settings),
    tooLarge: tooBig,
    take: async ({ name, content }) => ({
      file_name: cleanName(name),
      ...(await keep(call, projectId, content)),
    }),
  });

const insert = async (call: Call, projectId: number, file: Received): Promise<UploadRow> => {
  const actor = requireActor(call);
  const secret = call.platform.random(16).toString('hex');
  return await call.write(async (tx) => {
    await holdProject(tx, projectId);
    const row = { project_id: projectId, secret, ...file };
    const { id } = await tx.db
      .insertInto('uploads')
      .values({ ...row, user_id: actor.user.id, created_at: tx.now })
      .returning('id')
      .executeTakeFirstOrThrow();
    const { file_name, size, sha256 } = file;
    await recordEvent(tx, actor, {
      kind: 'upload.created',
      project_id: projectId,
      target_type: 'Upload',
      target_id: id,
      data: { file_name, size, sha256 },
    });
    return { id, ...row };
  });
};

/** Deletes unreferenced bytes, as after a row that could not be written. */
const drop = async ({ db, platform }: Call, projectId: number, sha256: string): Promise<void> => {
  const reference = await db
    .selectFrom('uploads')
    .select('id')
    .where('project_id', '=', projectId)
    .where('sha256', '=', sha256)
    .limit(1)
    .executeTakeFirst();
  if (reference === undefined) await platform.blobs.remove(getProjectArea(projectId), sha256);
};

/**
 * Stores the file of the request. The caller must have been authorized.
 * @throws Failure 413 for a file larger than the settings allow, 400 for none, 503 if the disk is full or read-only
 */
export const createUpload = async (call: Call, projectId: number): Promise<UploadRow> => {
  const file = await receive(call, projectId);
  try {
    return await insert(call, projectId, file);
  } catch (error) {
    await drop(call, projectId, file.sha256).catch(() => undefined);
    throw error;
  }
};
