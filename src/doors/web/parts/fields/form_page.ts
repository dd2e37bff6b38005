/** Declares pages that receive a form, so that a refused form always comes back with what was sent. */
import type { Static, TObject, TSchema } from 'typebox';
import type { Problems } from '../../../../platform/errors.ts';
import { type RawParams, paramsReader } from '../../../../platform/http/params.ts';
import { object } from '../../../../platform/http/schema.ts';
import {
  type AnyPage,
  type RawPage,
  Redirect,
  type View,
  type Visit,
  page,
  withRefusal,
} from '../../page.ts';
import { type FormProblems, answerForm, noProblems, problemsOf } from '../form_problems.ts';

/**
 * What a form shows: the values of its fields, and what is wrong with them.
 * @property base fingerprint that the form was opened with (`guardEdits`); absent: it has none
 */
export type FormState<Values> = { values: Values; problems: FormProblems; base?: string };

/** Returns the state of a form that was not sent yet. */
export const unsent = <Values>(values: Values): FormState<Values> => ({ values, problems: noProblems });

type Fields = Record<string, TSchema>;

type FormPage<Address extends Fields, F extends Fields, Loaded, Values> = {
  path: string;
  audience: AnyPage['audience'];
  /** As of `page`. */
  withoutRequiredFactor?: true;
  /** Parameters of the path or the query that identify the record. */
  address: Address;
  /** Parameters that the form sends. */
  fields: F;
  /** Loads and authorizes what the form changes. @throws Failure 404, 403 */
  find: (visit: Visit, address: Static<TObject<Address>>) => Promise<Loaded>;
  /** Returns the values of the form as they were sent, valid or not. */
  fromSent: (sent: RawParams, loaded: Loaded) => Values;
  /**
   * Changes the record. A failure that is about the input shows the form again.
   * @param typed the values of the form, as `fromSent` returns them
   */
  run: (
    visit: Visit,
    loaded: Loaded,
    params: Static<TObject<Address & F>>,
    typed: Values,
  ) => Promise<Redirect | View | RawPage>;
  /** Converts a failure of `run` to problems; null: it is not about the input. Default: `problemsOf`. */
  readFailure?: (error: unknown, loaded: Loaded, params: Static<TObject<Address & F>>) => FormProblems | null;
  /** Places problems of fields that the form does not have. */
  toProblems?: (problems: FormProblems) => FormProblems;
  /**
   * Shows the refused form, with status 422 unless the view has another. A form without input to keep may redirect to
   * its page: see `redirectWithProblems`.
   */
  view: (
    visit: Visit,
    loaded: Loaded,
    state: FormState<Values>,
  ) => View | Redirect | Promise<View | Redirect>;
};

/** Removes the characters from sent texts that no text of a database may have: the form may look for what it shows. */
const removeUnstorable = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '');
  if (Array.isArray(value)) return value.map(removeUnstorable);
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(Object(value)) as object | null);
  if (typeof value !== 'object' || value === null || !isPlain) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, removeUnstorable(one)]));
};

/** Declares a page that receives a form. A refused form is shown again, with what was sent and what is wrong. */
export const formPage = <Address extends Fields, F extends Fields, Loaded, Values>(
  declared: FormPage<Address, F, Loaded, Values>,
): AnyPage => {
  const { path, audience, address, fields, find, fromSent, run, view } = declared;
  const { readFailure = problemsOf, toProblems = (problems: FormProblems) => problems } = declared;
  const shared = Object.keys(fields).find((name) => name in address);
  // The value of the path would replace what the form sends.
  if (shared !== undefined) throw new Error(`the form of ${path} names a field like its address: ${shared}`);
  const readAddress = paramsReader(object(address));
  const readValues = (sent: RawParams, loaded: Loaded): Values =>
    fromSent(removeUnstorable(sent) as RawParams, loaded);
  const refuse = async (
    visit: Visit,
    { loaded, sent, problems }: { loaded: Loaded; sent: RawParams; problems: FormProblems },
  ): Promise<View | Redirect> => {
    const { base } = sent;
    const shown = await view(visit, loaded, {
      values: readValues(sent, loaded),
      problems: toProblems(problems),
      ...(typeof base === 'string' && { base }),
    });
    return shown instanceof Redirect ? shown : withRefusal(shown);
  };
  return page({
    method: 'POST',
    path,
    audience,
    ...(declared.withoutRequiredFactor === true && { withoutRequiredFactor: true }),
    params: object({ ...address, ...fields }),
    invalid: async (visit: Visit, sent: RawParams, problems: Problems) => {
      const loaded = await find(visit, readAddress(sent) as Static<TObject<Address>>);
      return await refuse(visit, { loaded, sent, problems: { text: null, fields: problems } });
    },
    handle: async (visit, params, sent) => {
      const loaded = await find(visit, params as Static<TObject<Address>>);
      return await answerForm(
        async () => await run(visit, loaded, params, readValues(sent, loaded)),
        async (problems) => await refuse(visit, { loaded, sent, problems }),
        (error) => readFailure(error, loaded, params),
      );
    },
  });
};
