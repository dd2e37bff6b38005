/** Creates, changes and deletes variables of any owner. Values are never logged. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import { conflict, invalid, notFound } from '../../platform/errors.ts';
import type { Checked } from '../../platform/http/precondition.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { holdProject } from '../../projects/projects/lock_project.ts';
import { lockInstance } from '../../core/settings/lock_instance.ts';
import { type Owner, sealValue, selectOwnVariables, loadVariablesByKey } from './queries.ts';
import { type Variable, checkVariable } from './rules.ts';

export type VariableEdit = Partial<Omit<Variable, 'key' | 'hidden'>>;

const defaults: Omit<Variable, 'key' | 'value'> = {
  variable_type: 'env_var',
  protected: 0,
  masked: 0,
  hidden: 0,
  raw: 0,
  environment_scope: '*',
  description: null,
};

const recordVariableEvent = async (
  call: Call,
  tx: Tx,
  owner: Owner,
  event: { kind: string; id: number; key: string },
) => {
  const { id, kind, key } = event;
  await recordEvent(tx, requireActor(call), {
    kind: `variable.${kind}`,
    project_id: owner.type === 'Project' ? owner.id : null,
    target_type: 'Variable',
    target_id: id,
    data: { key, owner_type: owner.type, owner_id: owner.id },
  });
};

/** Maximum number of variables by kind of owner. */
const quotas: Record<Owner['type'], { what: string; most: number }> = {
  Project: { what: 'project ci variables', most: 8_000 },
  Namespace: { what: 'group ci variables', most: 30_000 },
  Instance: { what: 'instance ci variables', most: 25 },
};

/** Locks the owner, so that its variables do not change between check and write. */
const lockOwner = async (tx: Tx, { type, id }: Owner): Promise<void> => {
  if (type === 'Project') return await holdProject(tx, id);
  if (type === 'Instance') return await lockInstance(tx);
  const query = tx.db.selectFrom('namespaces').select('id').where('id', '=', id);
  await query.modifyEnd(tx.dialect.forUpdate).execute();
};

const keyTaken = (key: string) => invalid({ key: [`(${key}) has already been taken`] });

/** @throws Failure 400 for invalid values, or a key that is taken in that scope */
export const createVariable = async (
  call: Call,
  owner: Owner,
  input: Pick<Variable, 'key' | 'value'> & Partial<Variable>,
): Promise<Variable> => {
  const variable = { ...defaults, ...input };
  checkVariable(variable);
  const { value, ...columns } = variable;
  const sealed_value = sealValue(call.platform, value);
  return await call.write(async (tx) => {
    await lockOwner(tx, owner);
    const existing = await loadVariablesByKey(call.platform, tx.db, owner, variable.key);
    if (existing.some((one) => one.environment_scope === variable.environment_scope))
      throw keyTaken(variable.key);
    await requireRecordQuota(selectOwnVariables(tx.db, owner), quotas[owner.type]);
    const row = {
      ...columns,
      sealed_value,
      source_type: owner.type,
      source_id: owner.id,
      created_at: tx.now,
      updated_at: tx.now,
    };
    const id = await insertRow(tx.db, 'variables', row);
    await recordVariableEvent(call, tx, owner, { kind: 'created', id, key: variable.key });
    return variable;
  });
};

/**
 * Finds a variable by key.
 * @param scope its environment scope; undefined if the key must be unique
 * @throws Failure 404, 409 if several variables match
 */
export const findVariable = async (
  call: Call,
  db: Call['db'],
  owner: Owner,
  { key, scope }: { key: string; scope: string | undefined },
) => {
  const sameKey = await loadVariablesByKey(call.platform, db, owner, key);
  const selector = scope === undefined ? sameKey : sameKey.filter((one) => one.environment_scope === scope);
  const [variable, other] = selector;
  if (variable === undefined) throw notFound('Variable');
  if (other !== undefined) {
    throw conflict(
      "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
    );
  }
  return variable;
};

type VariableSelector = { key: string; scope: string | undefined };

/** @throws Failure 404, 409 if several variables match, 400 for invalid values */
export const updateVariable = async (
  call: Call,
  owner: Owner,
  selector: VariableSelector,
  { check, ...edit }: Checked<VariableEdit, Variable>,
): Promise<Variable> =>
  await call.write(async (tx) => {
    await lockOwner(tx, owner);
    const { id, ...before } = await findVariable(call, tx.db, owner, selector);
    check?.(before);
    const after = { ...before, ...edit };
    if (before.hidden === 1) after.masked = 1;
    checkVariable(after);
    const others = await loadVariablesByKey(call.platform, tx.db, owner, before.key);
    const clashes = others.some((one) => one.id !== id && one.environment_scope === after.environment_scope);
    if (clashes) throw keyTaken(before.key);
    const { value, ...columns } = after;
    const set = { ...columns, sealed_value: sealValue(call.platform, value), updated_at: tx.now };
    await tx.db.updateTable('variables').set(set).where('id', '=', id).execute();
    await recordVariableEvent(call, tx, owner, { kind: 'updated', id, key: before.key });
    return after;
  });

/** @throws Failure 404, 409 if several variables match */
export const deleteVariable = async (call: Call, owner: Owner, selector: VariableSelector): Promise<void> => {
  await call.write(async (tx) => {
    const { id, key } = await findVariable(call, tx.db, owner, selector);
    await tx.db.deleteFrom('variables').where('id', '=', id).execute();
    await recordVariableEvent(call, tx, owner, { kind: 'deleted', id, key });
  });
};
