import { type Call, requireActor } from '../../core/access/call.ts';
import type { Visibility } from '../../platform/db/schema/column_types.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type Home, requireChange } from './snippet_home.ts';
import { loadContent, findSnippet, lockSnippet } from './queries.ts';
import type { SnippetRow } from './snippet_row.ts';
import { checkSnippet } from './rules.ts';

export type SnippetEdit = {
  title?: string | undefined;
  file_name?: string | undefined;
  content?: string | undefined;
  description?: string | null | undefined;
  visibility?: Visibility | undefined;
};

const names = ['title', 'file_name', 'description', 'visibility', 'content'] as const;

/** Changes a snippet. @throws Failure 404, 403, 400 */
export const updateSnippet = async (
  call: Call,
  home: Home,
  id: number,
  edit: SnippetEdit,
): Promise<SnippetRow> =>
  await call.write(async (tx) => {
    await lockSnippet(tx, id);
    const snippet = await findSnippet(call, tx.db, home, id);
    requireChange(call, home, snippet);
    const before = { ...snippet, content: await loadContent(tx.db, id) };
    const edits = Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
    const merged: typeof before = { ...before, ...edits };
    // A level that was restricted later stays valid.
    const isOpened = merged.visibility !== before.visibility;
    const after = { ...merged, ...checkSnippet(call, merged, isOpened ? merged.visibility : null) };
    const changed = names.filter((name) => after[name] !== before[name]);
    if (changed.length === 0) return snippet;
    const { title, file_name, description, visibility, content } = after;
    await tx.db
      .updateTable('snippets')
      .set({ title, file_name, description, visibility, content, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    const auditedColumns = changed.filter((name) => name !== 'content' && name !== 'description');
    await recordEvent(tx, requireActor(call), {
      kind: 'snippet.updated',
      project_id: snippet.project_id,
      target_type: 'Snippet',
      target_id: id,
      data: Object.fromEntries(auditedColumns.map((name) => [name, [before[name], after[name]]])),
    });
    return await findSnippet(call, tx.db, home, id);
  });
