/** The form of an integration with a chat, which is a webhook with a format. */
import { type ChatSlug, chatFlags, chats, defaultFlags } from '../../../../outgoing/integrations/chats.ts';
import type { HookRow } from '../../../../outgoing/hooks/queries.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { checkbox, form, input, select } from '../../parts/form.ts';
import { withFormStatus } from '../../parts/form_problems.ts';
import type { FormState } from '../../parts/fields/form_page.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import type { View, Visit } from '../../page.ts';
import { stateBadge } from '../hooks/delivery_status.ts';
import { eventHints, eventLabels } from '../hooks/placed_hook.ts';
import { integrationsPath } from './form.ts';

type ChatFlag = (typeof chatFlags)[number];

/** Events that the form offers. Those without a label are accepted by the API and never happen. */
export const offeredFlags: readonly ChatFlag[] = chatFlags.filter((name) => eventLabels[name] !== undefined);

/** The selected events. The address of the chat is a secret and is not shown. */
type ChatValues = ReadonlySet<string>;

/** Returns the values of a stored integration, or those of a new one. */
export const toChatValues = (hook: HookRow | undefined): ChatValues =>
  new Set(
    offeredFlags.filter((name) => (hook === undefined ? defaultFlags.includes(name) : hook[name] === 1)),
  );

type ChatPage = {
  project: Project;
  slug: ChatSlug;
  /** undefined: not connected. */
  hook: HookRow | undefined;
  state: FormState<ChatValues>;
};

const connectionForm = (visit: Visit, { project, slug, hook, state: { values, problems } }: ChatPage): Html =>
  form(
    visit,
    { action: `${integrationsPath(project)}/${slug}`, submit: 'Save changes', problems },
    input({
      name: 'webhook',
      label: 'Address of the incoming webhook',
      hint:
        hook === undefined
          ? `${chats[slug].title.split(' notifications')[0]} shows it when you create one.`
          : 'Stored. Leave it empty to keep it.',
      type: 'password',
      autocomplete: 'off',
      value: '',
      required: hook === undefined,
      problems,
    }),
    html`<fieldset><legend>Events</legend>${offeredFlags.map((name) =>
      checkbox({
        name,
        label: eventLabels[name] ?? name,
        ...(eventHints[name] !== undefined && { hint: eventHints[name] }),
        checked: values.has(name),
        problems,
      }),
    )}</fieldset>`,
  );

const connectedParts = (visit: Visit, { project, slug }: ChatPage, hook: HookRow): Html => {
  const hookPath = `${projectPagePath(project, 'hooks')}/${hook.id}`;
  const test = form(
    visit,
    { action: `${hookPath}/test`, submit: 'Send test', isQuiet: true },
    select({
      name: 'trigger',
      label: 'Event',
      value: null,
      options: offeredFlags
        .toSorted((a, b) => hook[b] - hook[a])
        .map((name) => [name, eventLabels[name] ?? name] as const),
    }),
  );
  const removal = form(visit, {
    action: `${integrationsPath(project)}/${slug}/delete`,
    submit: 'Remove integration',
    danger: true,
  });
  return html`<section class="card" aria-labelledby="test_title"><header><h2 id="test_title">Send a test</h2></header>
<div class="body stack"><p class="hint">Sends a message about the latest record of a kind.</p>${test}</div></section>
<section class="card danger-zone" aria-labelledby="remove_title"><header><h2 id="remove_title">Remove integration</h2></header>
<div class="body stack"><p>Disconnects ${chats[slug].title}, and deletes the stored address and the deliveries.</p>${removal}</div></section>`;
};

/** Renders the page of an integration with a chat. */
export const chatView = (visit: Visit, shown: ChatPage): View => {
  const { project, slug, hook, state } = shown;
  const status =
    hook &&
    html`<div class="row">${stateBadge(hook, visit.call.now)}<a class="button small" href="${projectPagePath(project, 'hooks')}/${hook.id}">Deliveries</a></div>`;
  const content = html`<div class="row between"><p><a href="${integrationsPath(project)}">All integrations</a></p>${status}</div>
<section class="card" aria-labelledby="connection_title"><header><h2 id="connection_title">Connection</h2></header>
<div class="body">${connectionForm(visit, shown)}</div></section>
${hook !== undefined && connectedParts(visit, shown, hook)}`;
  const view = projectView(
    visit,
    { project, title: chats[slug].title, noun: 'settings/integrations' },
    content,
  );
  return withFormStatus(view, state.problems);
};
