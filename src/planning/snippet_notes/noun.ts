import { mayChange, missing } from '../../projects/snippets/snippet_home.ts';
import type { NoteableNoun } from '../issuables/target.ts';
import { type LoadedSnippet, findProjectSnippet } from './find.ts';

/** Describes snippets of projects to the operations of comments and awards. Snippets have no counters of either. */
export const snippetNoun: NoteableNoun<LoadedSnippet> = {
  type: 'Snippet',
  segment: 'snippets',
  param: 'snippet_id',
  word: 'snippet',
  find: findProjectSnippet,
  mayUpdate: (call, { project, snippet }) => mayChange(call, project, snippet),
  webUrl: ({ baseUrl }, { project, target }) => `${baseUrl}/${project.full_path}/snippets/${target.id}`,
  change: async ({ db, dialect }, { id }) => {
    const row = await db
      .selectFrom('snippets')
      .select('id')
      .where('id', '=', id)
      .modifyEnd(dialect.forUpdate)
      .executeTakeFirst();
    if (row === undefined) throw missing();
  },
};
