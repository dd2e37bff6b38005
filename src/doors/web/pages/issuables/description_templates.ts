/** Templates of descriptions: files below `.gitlab/` of the default branch of a project. */
import { openCode } from '../../../../code/repository/find_code.ts';
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
      chosen: isRead ? await readTemplate(code, type, name) : null,
    };
  } catch (error) {
    if (isIgnored(error)) return none;
    throw error;
  }
};

type Shown = {
  names: readonly string[];
  chosen: string;
  /** Parameters of the address that the choice keeps. */
  kept: Readonly<Record<string, string>>;
};

/** Renders the choice of a template; null where there are none. @param path address of the form for a new record */
export const templatesPart = (path: string, { names, chosen, kept }: Shown): Html | null =>
  names.length === 0
    ? null
    : html`<form method="get" action="${path}" class="filter">${Object.entries(kept).map(([name, value]) =>
        hidden(name, value),
      )}${select({
        name: 'issuable_template',
        label: 'Template',
        value: chosen,
        options: [['', 'None'], ...names.map((name) => [name, name] as const)],
      })}<div class="buttons"><button>Use template</button></div></form>`;
