import type { Readable } from 'node:stream';
import { type Call, actorOf } from '../access/call.ts';
import { type Stored, projectArea } from '../blob/files.ts';
import { isDiskFull } from '../blob/folders.ts';
import { unavailable } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { receiveFile } from '../http/upload.ts';
import { holdProject } from '../projects/hold.ts';
import type { UploadRow } from './json.ts';
import { cleanName, largestFile, tooBig } from './rules.ts';

type Received = Stored & { file_name: string };

const keep = async ({ platform }: Call, projectId: number, content: Readable): Promise<Stored> => {
  try {
    return await platform.blobs.put(projectArea(projectId), content);
  } catch (error) {
    throw isDiskFull(error) ? unavailable() : error;
  }
};

const receive = async (call: Call, projectId: number): Promise<Received> =>
  await receiveFile(call.incoming, {
    field: 'file',
    limit: largestFile(call.settings),
    tooLarge: tooBig,
    take: async ({ name, content }) => ({
      file_name: cleanName(name),
      ...(await keep(call, projectId, content)),
    }),
  });

const insert = async (call: Call, projectId: number, file: Received): Promise<UploadRow> => {
  const actor = actorOf(call);
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

/** Removes bytes that nothing names, as after a row that could not be written. */
const drop = async ({ db, platform }: Call, projectId: number, sha256: string): Promise<void> => {
  const other = await db
    .selectFrom('uploads')
    .select('id')
    .where('project_id', '=', projectId)
    .where('sha256', '=', sha256)
    .limit(1)
    .executeTakeFirst();
  if (other === undefined) await platform.blobs.remove(projectArea(projectId), sha256);
};

/**
 * Keeps the file that the request brings. Whether the caller may send one was asked before.
 * @throws Failure 413 for one that is larger than the settings allow, 400 for none, 503 where the disk is full
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
