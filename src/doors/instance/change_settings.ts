import { type Call, requireActor } from '../../core/access/call.ts';
import { recordAudit } from '../../core/access/audit.ts';
import { type Change, type RequestedSettings, computeChanges } from '../../core/settings/compute_changes.ts';
import { lockInstance } from '../../core/settings/lock_instance.ts';
import { toSettingContext } from '../../core/settings/setting_context.ts';
import { readSettings, writeSettings } from '../../core/settings/settings_store.ts';

const toAuditDetails = (changes: readonly Change[]): object =>
  Object.fromEntries(changes.map(({ name, before, after }) => [name, [before, after]]));

/**
 * Changes the requested settings, all or none. They are in effect when this resolves.
 * @throws Failure 400
 */
export const changeSettings = async (call: Call, requested: RequestedSettings): Promise<Change[]> => {
  const actor = requireActor(call);
  const { platform } = call;
  const changes = await call.write(async (tx) => {
    // Serializes concurrent changes: the later one sees the earlier one.
    await lockInstance(tx);
    const { settings } = await readSettings(tx.db);
    const { changes } = computeChanges(settings, requested, toSettingContext(platform.config));
    if (changes.length === 0) return changes;
    await writeSettings(tx, changes, actor.user.id);
    await recordAudit(tx, actor, call, { kind: 'settings.changed', details: toAuditDetails(changes) });
    return changes;
  });
  await platform.settings.reload();
  return changes;
};
