import { type Call, actorOf } from '../access/call.ts';
import { recordEvent } from '../events/record.ts';
import { requireUnmodified } from '../http/unmodified.ts';
import { type Home, requireChange } from './home.ts';
import { findSnippet, lockSnippet } from './queries.ts';

/** @throws Failure 404, 403, 412 */
export const deleteSnippet = async (call: Call, home: Home, id: number): Promise<void> =>
  await call.write(async (tx) => {
    await lockSnippet(tx, id);
    const found = await findSnippet(call, tx.db, home, id);
    requireChange(call, home, found);
    requireUnmodified(call.header('if-unmodified-since'), found.updated_at);
    await tx.db.deleteFrom('snippets').where('id', '=', id).execute();
    await recordEvent(tx, actorOf(call), {
      kind: 'snippet.deleted',
      project_id: found.project_id,
      target_type: 'Snippet',
      target_id: id,
      data: { title: found.title },
    });
  });
