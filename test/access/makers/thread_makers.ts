/** Creates discussions, approvals, integrations and releases for the matrix. */
import { randomBytes } from 'node:crypto';
import { insertRow } from '../../../src/platform/db/insert.ts';
import { toIndividualId } from '../../../src/planning/discussions/discussion_id.ts';
import { toSuggestionId } from '../../../src/planning/notes/suggestions/parse_suggestions.ts';
import { type Maker, noteableOf, targetOf, selfOf } from './makers.ts';
import { unique } from '../../support/seed.ts';

/** A thread on the cell's issue, with one comment of this person. */
const thread =
  (by: 'self' | 'writer'): Maker =>
  async (tx, cells, world) => {
    for (const cell of cells) {
      const discussion_id = randomBytes(20).toString('hex');
      const { id } = await tx.db
        .insertInto('notes')
        .values({
          project_id: Number(cell.names['project']),
          ...noteableOf(cell),
          author_id: by === 'self' ? selfOf(cell, world) : world.people.writer,
          body: 'Made',
          system: 0,
          created_at: tx.now,
          updated_at: tx.now,
          discussion_id,
          type: 'DiscussionNote',
          resolvable: 1,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      Object.assign(cell.names, { discussion_id, note_id: id });
    }
  };

export const ownThread = thread('self');
export const anothersThread = thread('writer');

const position = {
  position_type: 'text',
  base_sha: '0'.repeat(40),
  start_sha: '0'.repeat(40),
  head_sha: '1'.repeat(40),
  old_path: 'a.txt',
  new_path: 'a.txt',
  old_line: null,
  new_line: 1,
  line_range: null,
};

/** A suggestion in a comment on a line of the cell's merge request. */
export const lineSuggestion: Maker = async (tx, cells, world) => {
  for (const cell of cells) {
    const { id } = await tx.db
      .insertInto('notes')
      .values({
        project_id: Number(cell.names['project']),
        ...targetOf(cell),
        author_id: world.people.writer,
        body: '```suggestion\nother\n```',
        system: 0,
        created_at: tx.now,
        updated_at: tx.now,
        discussion_id: randomBytes(20).toString('hex'),
        type: 'DiffNote',
        resolvable: 1,
        position: JSON.stringify(position),
        original_position: JSON.stringify(position),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    cell.names['suggestion'] = toSuggestionId(id, 0);
  }
};

/** The discussion that consists of the cell's comment. */
export const itsOwnDiscussion: Maker = async (_tx, cells) => {
  for (const { names } of cells) names['discussion_id'] = toIndividualId(Number(names['note_id']));
};

/** Connects the cell's project to an external tracker. */
export const tracker: Maker = async (tx, cells) => {
  for (const cell of cells) {
    cell.names['slug'] = 'redmine';
    const row = {
      project_id: Number(cell.names['project']),
      slug: 'redmine',
      active: 1,
      properties: '{}',
    } as const;
    await tx.db
      .insertInto('integrations')
      .values({ ...row, created_at: tx.now, updated_at: tx.now })
      .onConflict((clash) => clash.doNothing())
      .execute();
  }
};

export const ownApproval: Maker = async (tx, cells, world) => {
  const rows = cells.map((cell) => ({
    merge_request_id: Number(cell.names['merge_request_id']),
    user_id: selfOf(cell, world),
    created_at: tx.now,
  }));
  await tx.db.insertInto('merge_request_approvals').values(rows).execute();
};

/** A release of a deleted tag. */
const releaseAt =
  (later: number): Maker =>
  async (tx, cells) => {
    for (const { names } of cells) {
      const tag = unique('tag');
      const id = await insertRow(tx.db, 'releases', {
        project_id: Number(names['project']),
        tag,
        name: 'Made',
        description: null,
        sha: null,
        author_id: null,
        created_at: tx.now,
        released_at: tx.now + later,
      });
      Object.assign(names, { release_id: id, tag_name: tag });
    }
  };

export const release = releaseAt(0);
/** Sorted among the first of a list. */
export const comingRelease = releaseAt(1_000_000_000);

export const link: Maker = async (tx, cells) => {
  for (const { names } of cells) {
    const release_id = Number(names['release_id']);
    const row = { release_id, name: 'Made', url: 'https://example.com', filepath: null };
    names['link_id'] = await insertRow(tx.db, 'release_links', row);
  }
};
