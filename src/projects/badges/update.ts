import type { Call } from '../../core/access/call.ts';
import { compareColumns } from '../../core/events/compare_columns.ts';
import type { Tx } from '../../platform/db/open.ts';
import { nothingToChange } from '../../platform/errors.ts';
import type { Checked } from '../../platform/http/precondition.ts';
import type { BadgeRow } from './json.ts';
import type { BadgeOwner } from './owner.ts';
import { loadBadge } from './queries.ts';
import { recordBadge } from './record_badge.ts';
import { type BadgeUrls, requireBadgeUrls } from './rules.ts';

type BadgeEdit = BadgeUrls & { name?: string | null | undefined };

const lockBadge = async (tx: Tx, owner: BadgeOwner, badgeId: number): Promise<BadgeRow> => {
  const row = tx.db.selectFrom('badges').select('id').where('id', '=', badgeId);
  await row.modifyEnd(tx.dialect.forUpdate).execute();
  return await loadBadge(tx, owner.own, badgeId);
};

/** Changes a badge of a project or group that the caller may administer. @throws Failure 404, 400 */
export const updateBadge = async (
  call: Call,
  owner: BadgeOwner,
  badgeId: number,
  { check, ...edit }: Checked<BadgeEdit, BadgeRow>,
): Promise<void> => {
  await loadBadge(call, owner.own, badgeId);
  if (Object.keys(edit).length === 0) throw nothingToChange(['link_url', 'image_url', 'name']);
  const { name, ...urls } = edit;
  requireBadgeUrls(urls);
  await call.write(async (tx) => {
    const before = await lockBadge(tx, owner, badgeId);
    check?.(before);
    const values = { ...urls, ...(name !== undefined && { name }) };
    await tx.db
      .updateTable('badges')
      .set({ ...values, updated_at: tx.now })
      .where('id', '=', badgeId)
      .execute();
    const { data } = compareColumns(before, values);
    await recordBadge(tx, call, owner, { verb: 'updated', id: badgeId, data });
  });
};
