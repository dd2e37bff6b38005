import { type Call, requireActor } from '../../core/access/call.ts';
import type { Visibility } from '../../platform/db/schema/column_types.ts';
import { badRequest } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type FileAction, applyFileActions } from './apply_file_actions.ts';
import { type SnippetFile, type SnippetFiles, loadFiles, storeFurtherFiles } from './files.ts';
import { type Home, requireChange } from './snippet_home.ts';
import { findSnippet, lockSnippet } from './queries.ts';
import type { SnippetRow } from './snippet_row.ts';
import { checkSnippet } from './rules.ts';

export type SnippetEdit = {
  title?: string | undefined;
  /** Name and text of the only file. */
  file_name?: string | undefined;
  content?: string | undefined;
  files?: readonly FileAction[] | undefined;
  description?: string | null | undefined;
  visibility?: Visibility | undefined;
};

/** Returns the files after the edit. @throws Failure 400 */
const editFiles = (
  files: SnippetFiles,
  { file_name, content, files: actions }: SnippetEdit,
): SnippetFiles => {
  if (actions !== undefined) return applyFileActions(files, actions);
  if (file_name === undefined && content === undefined) return files;
  if (files.length > 1) throw badRequest('the snippet has several files: change them by files');
  const [only] = files;
  return [{ path: file_name ?? only.path, content: content ?? only.content }];
};

const names = ['title', 'description', 'visibility', 'file_name', 'content'] as const;

/** The names of the files, for the change log; empty if they are unchanged. */
const changedPaths = (before: readonly SnippetFile[], after: readonly SnippetFile[]) => {
  const [was, is] = [before.map(({ path }) => path), after.map(({ path }) => path)];
  const isSame = was.length === is.length && was.every((path, at) => path === is[at]);
  return isSame || Math.max(was.length, is.length) === 1 ? {} : { files: [was, is] };
};

/**
 * Changes a snippet.
 * @param check called with the locked snippet and its files before the edit; throws to abort it
 * @throws Failure 404, 403, 400
 */
export const updateSnippet = async (
  call: Call,
  { home, id }: { home: Home; id: number },
  edit: SnippetEdit,
  check?: (locked: SnippetRow, files: readonly SnippetFile[]) => void,
): Promise<SnippetRow> =>
  await call.write(async (tx) => {
    await lockSnippet(tx, id);
    const snippet = await findSnippet(call, tx.db, home, id);
    requireChange(call, home, snippet);
    const files = await loadFiles(tx.db, id);
    check?.(snippet, files);
    const { title = snippet.title, description = snippet.description } = edit;
    const { visibility = snippet.visibility } = edit;
    // A level that was restricted later stays valid.
    const isOpened = visibility !== snippet.visibility;
    const text = { title, files: editFiles(files, edit) };
    const checked = checkSnippet(call, text, isOpened ? visibility : null);
    const [first, ...others] = checked.files;
    const before = { ...snippet, content: files[0].content };
    const after = {
      title: checked.title,
      description,
      visibility,
      file_name: first.path,
      content: first.content,
    };
    const changed = names.filter((name) => after[name] !== before[name]);
    const areOthersChanged = JSON.stringify(others) !== JSON.stringify(files.slice(1));
    if (changed.length === 0 && !areOthersChanged) return snippet;
    await tx.db
      .updateTable('snippets')
      .set({ ...after, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    if (areOthersChanged) await storeFurtherFiles(tx, id, others);
    const auditedColumns = changed.filter((name) => name !== 'content' && name !== 'description');
    await recordEvent(tx, requireActor(call), {
      kind: 'snippet.updated',
      project_id: snippet.project_id,
      target_type: 'Snippet',
      target_id: id,
      data: {
        ...Object.fromEntries(auditedColumns.map((name) => [name, [before[name], after[name]]])),
        ...changedPaths(files, checked.files),
      },
    });
    return await findSnippet(call, tx.db, home, id);
  });
