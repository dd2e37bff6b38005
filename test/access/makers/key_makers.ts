/** Creates keys, snippets and uploads for the matrix. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { getProjectArea } from '../../../src/platform/blob/blob_files.ts';
import type { Tx } from '../../../src/platform/db/open.ts';
import type { Visibility } from '../../../src/platform/db/schema/column_types.ts';
import { unique } from '../../support/seed.ts';
import { type Cell, type Maker, selfOf } from './makers.ts';
import type { World } from '../world.ts';

const insertKey = async (tx: Tx, user_id: number | null): Promise<{ id: number; fingerprint: string }> =>
  await tx.db
    .insertInto('keys')
    .values({
      user_id,
      title: 'Made',
      type: 'ssh-ed25519',
      blob: randomBytes(51).toString('base64'),
      comment: '',
      family: 'ed25519',
      bits: 256,
      fingerprint: randomBytes(16)
        .toString('hex')
        .replace(/..(?!$)/g, '$&:'),
      fingerprint_sha256: randomBytes(32).toString('base64'),
      expires_at: null,
      last_used_at: null,
      created_at: tx.now,
    })
    .returning(['id', 'fingerprint'])
    .executeTakeFirstOrThrow();

const key =
  (ofWhom: (cell: Cell, world: World) => number): Maker =>
  async (tx, cells, world) => {
    for (const cell of cells) {
      const user_id = ofWhom(cell, world);
      const { id: key_id, fingerprint } = await insertKey(tx, user_id);
      Object.assign(cell.names, { key_id, fingerprint, user: user_id });
    }
  };

/** A deploy key of no project. */
export const deployKeyOfInstance: Maker = async (tx, cells) => {
  for (const { names } of cells) names['key_id'] = (await insertKey(tx, null)).id;
};

export const ownKey = key(selfOf);
export const anothersKey = key((_cell, { people }) => people.writer);

const gpgKey =
  (ofWhom: (cell: Cell, world: World) => number): Maker =>
  async (tx, cells, world) => {
    for (const cell of cells) {
      const user_id = ofWhom(cell, world);
      const fingerprint = randomBytes(20).toString('hex').toUpperCase();
      const { id: key_id } = await tx.db
        .insertInto('gpg_keys')
        .values({
          user_id,
          key: 'Made',
          fingerprint,
          primary_keyid: fingerprint.slice(-16),
          users: '[]',
          created_at: tx.now,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      Object.assign(cell.names, { key_id, user: user_id });
    }
  };

const email =
  (ofWhom: (cell: Cell, world: World) => number): Maker =>
  async (tx, cells, world) => {
    for (const cell of cells) {
      const user_id = ofWhom(cell, world);
      const { id: email_id } = await tx.db
        .insertInto('emails')
        .values({
          user_id,
          email: `${unique('made')}@example.com`,
          confirmed_at: null,
          requested_at: tx.now,
          mailed_at: null,
          created_at: tx.now,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      Object.assign(cell.names, { email_id, user: user_id });
    }
  };

export const ownEmail = email(selfOf);
export const anothersEmail = email((_cell, { people }) => people.writer);

export const ownGpgKey = gpgKey(selfOf);
export const anothersGpgKey = gpgKey((_cell, { people }) => people.writer);

const deployKey =
  (project: string): Maker =>
  async (tx, cells) => {
    for (const cell of cells) {
      const { id: key_id } = await insertKey(tx, null);
      const link = {
        project_id: Number(cell.names[project]),
        key_id,
        can_push: 0,
        created_at: tx.now,
      } as const;
      await tx.db.insertInto('deploy_key_projects').values(link).execute();
      cell.names['key_id'] = key_id;
    }
  };

export const deployKeyOfIt = deployKey('project');
/** Keys of a project that none of them sees. */
export const deployKeyOfOthers = deployKey('vault');

type SnippetPlan = { by: 'self' | 'writer'; visibility: Visibility; personal?: true };

export const snippet =
  ({ by, visibility, personal }: SnippetPlan): Maker =>
  async (tx, cells, world) => {
    for (const cell of cells) {
      const { id } = await tx.db
        .insertInto('snippets')
        .values({
          project_id: personal === true ? null : Number(cell.names['project']),
          author_id: by === 'self' ? selfOf(cell, world) : world.people.writer,
          title: 'Made',
          file_name: 'a.txt',
          description: null,
          content: 'Made',
          visibility,
          user_agent: 'curl',
          ip_address: '127.0.0.1',
          created_at: tx.now,
          updated_at: tx.now,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      Object.assign(cell.names, { snippet_id: id, snippet_file: 'a.txt', snippet_ref: 'main' });
    }
  };

export const upload: Maker = async (tx, cells, { gantry }) => {
  const project_id = Number(cells[0]?.names['project']);
  const { blobs } = gantry.service.platform;
  const stored = await blobs.put(getProjectArea(project_id), Readable.from([Buffer.from('Made')]));
  const secret = randomBytes(16).toString('hex');
  const row = { project_id, user_id: null, secret, file_name: 'a.txt', ...stored, created_at: tx.now };
  await tx.db.insertInto('uploads').values(row).execute();
  for (const cell of cells) Object.assign(cell.names, { secret, filename: 'a.txt' });
};
