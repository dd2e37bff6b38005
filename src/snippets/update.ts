import { type Call, actorOf } from '../access/call.ts';
import type { Visibility } from '../db/schema.ts';
import { recordEvent } from '../events/record.ts';
import { type Home, requireChange } from './home.ts';
import { type SnippetRow, contentOf, findSnippet, lockSnippet } from './queries.ts';
import { checkSnippet } from './rules.ts';

export type SnippetEdit = {
  title?: string | undefined;
  file_name?: string | undefined;
  content?: string | undefined;
  description?: string | null | undefined;
  visibility?: Visibility | undefined;
};

const names = ['title', 'file_name', 'description', 'visibility', 'content'] as const;

/** @throws Failure 404, 403, 400 */
export const updateSnippet = async (
  call: Call,
  home: Home,
  id: number,
  edit: SnippetEdit,
): Promise<SnippetRow> =>
  await call.write(async (tx) => {
    await lockSnippet(tx, id);
    const found = await findSnippet(call, tx.db, home, id);
    requireChange(call, home, found);
    const before = { ...found, content: await contentOf(tx.db, id) };
    const given = Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
    const wanted: typeof before = { ...before, ...given };
    // A level that was restricted later stays.
    const isOpened = wanted.visibility !== before.visibility;
    const after = { ...wanted, ...checkSnippet(call, wanted, isOpened ? wanted.visibility : null) };
    const changed = names.filter((name) => after[name] !== before[name]);
    if (changed.length === 0) return found;
    const { title, file_name, description, visibility, content } = after;
    await tx.db
      .updateTable('snippets')
      .set({ title, file_name, description, visibility, content, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    const told = changed.filter((name) => name !== 'content' && name !== 'description');
    await recordEvent(tx, actorOf(call), {
      kind: 'snippet.updated',
      project_id: found.project_id,
      target_type: 'Snippet',
      target_id: id,
      data: Object.fromEntries(told.map((name) => [name, [before[name], after[name]]])),
    });
    return await findSnippet(call, tx.db, home, id);
  });
