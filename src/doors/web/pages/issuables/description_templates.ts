/** Templates of descriptions: files below `.gitlab/` of the default branch of a project. */
import { type Code, openCode } from '../../../../code/repository/find_code.ts';
import {
  type DescriptionType,
  findTemplates,
  readTemplate,
} from '../../../../code/repository/files/description_templates.ts';
import { may } from '../../../../core/access/may.ts';
import { Failure } from '../../../../platform/errors.ts';
import { isGitFailure } from '../../../../platform/git/failure.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { optional, text } from '../../../../platform/http/schema.ts';
import { hidden, select } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';

/** The template that is used where none is chosen. */
const defaultName = 'Default';

/** Templates that the form offers; others are chosen in the address. */
const maxNames = 100;

type Template = { name: string; content: string };
type Offer = { names: string[]; chosen: Template | null };

const none: Offer = { names: [], chosen: null };

/** Kinds of failure without which a record can still be created. */
const ignored = new Set<Failure['kind']>(['not_found', 'unavailable', 'too_large']);

const isIgnored = (error: unknown): boolean =>
  isGitFailure(error) || (error instanceof Failure && ignored.has(error.kind));

/** Reads a template. Its line endings match a description sent by a form. */
const readPlain = async (code: Code, type: DescriptionType, name: string): Promise<Template> => {
  const { content } = await readTemplate(code, type, name);
  return { name, content: content.replaceAll('\r\n', '\n') };
};

/**
 * Lists the templates that the user may read, and reads one.
 * @param requested name of the template; undefined: the default; null: none
 */
export const chooseTemplate = async (
  { call }: Visit,
  project: Project,
  { type, requested }: { type: DescriptionType; requested: string | null | undefined },
): Promise<Offer> => {
  if (!may(call.viewer, 'read_code', project)) return none;
  const code = openCode(call, project);
  try {
    const { names = [] } = (await findTemplates(code, type)) ?? {};
    const name = names.find((one) => one === (requested ?? defaultName));
    const isRead = requested !== null && name !== undefined;
    return {
      names: names.slice(0, maxNames),
      chosen: isRead ? await readPlain(code, type, name) : null,
    };
  } catch (error) {
    if (isIgnored(error)) return none;
    throw error;
  }
};

/** Parameters of a form with a template: the template to use, and the template whose text the form has. */
export const templateParams = { issuable_template: optional(text()), applied_template: optional(text()) };

type Applied = {
  type: DescriptionType;
  issuable_template?: string | undefined;
  applied_template?: string | undefined;
  /** Values of the form. */
  description: string;
};

/** Returns the description with a template. It follows what was typed, but replaces an earlier template that was not edited. */
export const applyTemplate = async (
  visit: Visit,
  project: Project,
  { type, issuable_template: name = '', applied_template: former = '', description }: Applied,
): Promise<Offer & { description: string }> => {
  const choose = async (requested: string): Promise<Offer> =>
    await chooseTemplate(visit, project, { type, requested: requested === '' ? null : requested });
  const [{ names, chosen }, { chosen: replaced }] = [await choose(name), await choose(former)];
  const typed = description.trim();
  const isTyped = typed !== '' && typed !== replaced?.content.trim();
  if (chosen === null) return { names, chosen, description: isTyped ? description : '' };
  return { names, chosen, description: isTyped ? `${typed}\n\n${chosen.content}` : chosen.content };
};

/**
 * Renders the choice of a template within a form; null if there are none.
 * @param path URL that shows the form again with a template. The script inserts its text instead.
 */
export const templateFields = (path: string, { names, chosen }: Offer): Html | null =>
  names.length === 0
    ? null
    : html`<button hidden tabindex="-1">Save</button>
<div class="filter">${hidden('applied_template', chosen?.name ?? '')}${select({
        name: 'issuable_template',
        label: 'Template',
        value: chosen?.name ?? '',
        options: [['', 'None'], ...names.map((name) => [name, name] as const)],
      })}<div class="buttons"><button formaction="${path}" formnovalidate data-template>Use template</button></div></div>`;
