/** Variables are made, changed and deleted alike, whoever owns them. Their values never reach a log. */
import { type Call, actorOf } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { requireRoom } from '../db/room.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { holdProject } from '../projects/hold.ts';
import { lockInstance } from '../settings/lock_instance.ts';
import { type Owner, sealValue, variablesOf, variablesOfKey } from './queries.ts';
import { type Variable, checkVariable } from './rules.ts';

export type VariableEdit = Partial<Omit<Variable, 'key' | 'hidden'>>;

const fresh: Omit<Variable, 'key' | 'value'> = {
  variable_type: 'env_var',
  protected: 0,
  masked: 0,
  hidden: 0,
  raw: 0,
  environment_scope: '*',
  description: null,
};

const note = async (call: Call, tx: Tx, owner: Owner, told: { kind: string; id: number; key: string }) => {
  const { id, kind, key } = told;
  await recordEvent(tx, actorOf(call), {
    kind: `variable.${kind}`,
    project_id: owner.type === 'Project' ? owner.id : null,
    target_type: 'Variable',
    target_id: id,
    data: { key, owner_type: owner.type, owner_id: owner.id },
  });
};

/** Of each kind of owner. */
const limits: Record<Owner['type'], { what: string; most: number }> = {
  Project: { what: 'project ci variables', most: 8_000 },
  Namespace: { what: 'group ci variables', most: 30_000 },
  Instance: { what: 'instance ci variables', most: 25 },
};

/** Of one owner, one after another: what is looked at stays so until it is written. */
const holdOwner = async (tx: Tx, { type, id }: Owner): Promise<void> => {
  if (type === 'Project') return await holdProject(tx, id);
  if (type === 'Instance') return await lockInstance(tx);
  const query = tx.db.selectFrom('namespaces').select('id').where('id', '=', id);
  await query.modifyEnd(tx.words.forUpdate).execute();
};

const taken = (key: string) => invalid({ key: [`(${key}) has already been taken`] });

/** @throws Failure 400 for what may not be, or a key that is taken in that scope */
export const createVariable = async (
  call: Call,
  owner: Owner,
  given: Pick<Variable, 'key' | 'value'> & Partial<Variable>,
): Promise<Variable> => {
  const variable = { ...fresh, ...given };
  checkVariable(variable);
  const { value, ...columns } = variable;
  const sealed_value = sealValue(call.platform, value);
  return await call.write(async (tx) => {
    await holdOwner(tx, owner);
    const known = await variablesOfKey(call.platform, tx.db, owner, variable.key);
    if (known.some((one) => one.environment_scope === variable.environment_scope)) throw taken(variable.key);
    await requireRoom(variablesOf(tx.db, owner), limits[owner.type]);
    const row = {
      ...columns,
      sealed_value,
      source_type: owner.type,
      source_id: owner.id,
      created_at: tx.now,
      updated_at: tx.now,
    };
    const id = await insertRow(tx.db, 'variables', row);
    await note(call, tx, owner, { kind: 'created', id, key: variable.key });
    return variable;
  });
};

/** @param scope of the one that is meant; undefined: there must be one alone */
export const findVariable = async (
  call: Call,
  db: Call['db'],
  owner: Owner,
  { key, scope }: { key: string; scope: string | undefined },
) => {
  const all = await variablesOfKey(call.platform, db, owner, key);
  const meant = scope === undefined ? all : all.filter((one) => one.environment_scope === scope);
  const [variable, other] = meant;
  if (variable === undefined) throw notFound('Variable');
  if (other !== undefined) {
    throw conflict(
      "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
    );
  }
  return variable;
};

type Meant = { key: string; scope: string | undefined };

/** @throws Failure 404, 409 where several are meant, 400 for what may not be */
export const updateVariable = async (
  call: Call,
  owner: Owner,
  meant: Meant,
  edit: VariableEdit,
): Promise<Variable> =>
  await call.write(async (tx) => {
    await holdOwner(tx, owner);
    const { id, ...before } = await findVariable(call, tx.db, owner, meant);
    const after = { ...before, ...edit };
    if (before.hidden === 1) after.masked = 1;
    checkVariable(after);
    const others = await variablesOfKey(call.platform, tx.db, owner, before.key);
    const clashes = others.some((one) => one.id !== id && one.environment_scope === after.environment_scope);
    if (clashes) throw taken(before.key);
    const { value, ...columns } = after;
    const set = { ...columns, sealed_value: sealValue(call.platform, value), updated_at: tx.now };
    await tx.db.updateTable('variables').set(set).where('id', '=', id).execute();
    await note(call, tx, owner, { kind: 'updated', id, key: before.key });
    return after;
  });

/** @throws Failure 404, 409 where several are meant */
export const deleteVariable = async (call: Call, owner: Owner, meant: Meant): Promise<void> => {
  await call.write(async (tx) => {
    const { id, key } = await findVariable(call, tx.db, owner, meant);
    await tx.db.deleteFrom('variables').where('id', '=', id).execute();
    await note(call, tx, owner, { kind: 'deleted', id, key });
  });
};
