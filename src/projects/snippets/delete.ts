import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { type Home, requireChange } from './snippet_home.ts';
import { findSnippet, lockSnippet } from './queries.ts';

/** Deletes a snippet. @throws Failure 404, 403, 412 */
export const deleteSnippet = async (call: Call, home: Home, id: number): Promise<void> =>
  await call.write(async (tx) => {
    await lockSnippet(tx, id);
    const snippet = await findSnippet(call, tx.db, home, id);
    requireChange(call, home, snippet);
    requireUnmodified(call.header('if-unmodified-since'), snippet.updated_at);
    await tx.db.deleteFrom('snippets').where('id', '=', id).execute();
    await recordEvent(tx, requireActor(call), {
      kind: 'snippet.deleted',
      project_id: snippet.project_id,
      target_type: 'Snippet',
      target_id: id,
      data: { title: snippet.title },
    });
  });
