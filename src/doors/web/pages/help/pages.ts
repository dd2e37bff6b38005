/** Help: the documents of the package, for everybody, without access to the network. */
import { notFound } from '../../../../platform/errors.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { withSideNav, type NavLink } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html, trusted } from '../../parts/html.ts';
import { markdown } from '../../parts/markdown.ts';
import { page, type View, type Visit } from '../../page.ts';
import { readTopic } from './read_topic.ts';
import { type Topic, findTopic, topicGroups } from './topics.ts';

const toPath = ({ name }: Topic): string => `/help/${name}`;

/** Lists the sections of a topic, from its rendered headings. */
const sectionList = (content: Html): Html | undefined => {
  const sections = [...content.text.matchAll(/<h2[^>]*? id="([^"]+)"[^>]*>(.*?)<\/h2>/gs)];
  if (sections.length === 0) return undefined;
  return html`<ul>${sections.map(
    ([
      ,
      id = '',
      title = '',
    ]) => html`<li><a href="#${id}">${trusted(title.replaceAll(/<[^>]*>/g, ''))}</a></li>
`,
  )}</ul>`;
};

const topicLinks = (here: Topic, content: Html): NavLink[] => [
  { path: '/help', name: 'Help', isHere: false },
  ...topicGroups
    .flatMap(({ topics }) => topics)
    .map((topic) => {
      const isHere = topic === here;
      return {
        path: toPath(topic),
        name: topic.title,
        isHere,
        contents: isHere ? sectionList(content) : undefined,
      };
    }),
];

const groupPart = ({ title, topics }: (typeof topicGroups)[number]): Html => html`<h2>${title}</h2>
<dl class="topics">${topics.map(
  (topic) => html`<div><dt><a href="${toPath(topic)}">${topic.title}</a></dt><dd>${topic.about}</dd></div>
`,
)}</dl>
`;

const neighbours = (topic: Topic): Html => {
  const all = topicGroups.flatMap(({ topics }) => topics);
  const at = all.indexOf(topic);
  const [previous, next] = [all[at - 1], all[at + 1]];
  return html`<nav class="neighbours" aria-label="Neighbouring topics">${
    previous !== undefined && html`<a rel="prev" href="${toPath(previous)}">Previous: ${previous.title}</a>`
  } ${next !== undefined && html`<a rel="next" href="${toPath(next)}">Next: ${next.title}</a>`}</nav>`;
};

const topicView = async ({ call }: Visit, topic: Topic): Promise<View> => {
  const { markdown: source, summary } = readTopic(topic);
  const content = await markdown(call, source, { hasReferences: false });
  return {
    title: topic.title,
    preview: { description: summary || topic.about },
    body: withSideNav(
      'Help',
      topicLinks(topic, content),
      html`<h1>${topic.title}</h1>
${content}${neighbours(topic)}`,
    ),
  };
};

const aboutHelp = 'How to install, use and run Gantry.';

export const pages = [
  page({
    method: 'GET',
    path: '/help',
    audience: 'anyone',
    params: object({}),
    handle: async () => ({
      title: 'Help',
      preview: { description: aboutHelp },
      body: html`<h1>Help</h1>
<p>${aboutHelp} The reference of every request is the <a href="/-/docs/api">API reference</a>. Press <kbd>?</kbd> on any page for its keyboard shortcuts.</p>
${topicGroups.map(groupPart)}`,
    }),
  }),
  page({
    method: 'GET',
    path: '/help/:topic',
    audience: 'anyone',
    params: object({ topic: text() }),
    handle: async (visit, params) => {
      const topic = findTopic(params.topic.replace(/\.md$/, ''));
      if (topic === undefined) throw notFound();
      return await topicView(visit, topic);
    },
  }),
];
