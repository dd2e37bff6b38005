import { type Call, actorOf } from '../access/call.ts';
import { recordAudit } from '../access/audit.ts';
import { type Change, type Wanted, changed } from '../settings/change.ts';
import { lockInstance } from '../settings/lock_instance.ts';
import { surroundingsOf } from '../settings/surroundings.ts';
import { readSettings, writeSettings } from '../settings/store.ts';

const detailsOf = (changes: readonly Change[]): object =>
  Object.fromEntries(changes.map(({ name, before, after }) => [name, [before, after]]));

/**
 * Changes the instance's settings, all that are wanted or none; they hold when this returns.
 * @throws Failure 400
 */
export const changeSettings = async (call: Call, wanted: Wanted): Promise<Change[]> => {
  const actor = actorOf(call);
  const { platform } = call;
  const changes = await call.write(async (tx) => {
    // Of two changes at once the later one sees the earlier one.
    await lockInstance(tx);
    const { settings } = await readSettings(tx.db);
    const { changes } = changed(settings, wanted, surroundingsOf(platform.config));
    if (changes.length === 0) return changes;
    await writeSettings(tx, changes, actor.user.id);
    await recordAudit(tx, actor, call, { kind: 'settings.changed', details: detailsOf(changes) });
    return changes;
  });
  await platform.settings.reload();
  return changes;
};
