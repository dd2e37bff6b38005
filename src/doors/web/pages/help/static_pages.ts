/** Help as files, which can be read while no service runs and published elsewhere. */
import { version } from '../../../../platform/version.ts';
import { type Html, html, trusted } from '../../parts/html.ts';
import { contentFile, renderTopic } from './render_topic.ts';
import { aboutHelp, startBody, topicBody } from './topic_parts.ts';
import { topicGroups } from './topics.ts';

/** Points links to other topics at their files; links to other pages of the service become text. */
const linkFiles = (text: string): string =>
  text.replaceAll(
    /<a\b[^>]*? href="(\/[^"]*)"[^>]*>([^]*?)<\/a>/g,
    (link, address: string, content: string) => {
      const [, name = 'index', anchor = ''] = /^\/help(?:\/(\w+))?(#.*)?$/.exec(address) ?? [];
      return address.startsWith('/help') ? link.replace(`"${address}"`, `"${name}.html${anchor}"`) : content;
    },
  );

const document = (title: string, body: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Gantry</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="topbar"><a class="brand" href="index.html">Gantry</a></header>
<main id="main">
${trusted(linkFiles(body.text))}
</main>
<footer class="foot">Gantry ${version}</footer>
</body>
</html>
`.text;

/**
 * Renders help as files by name: `index.html`, a page for each topic, and the rendered texts for the service.
 * @param style of the pages of the service
 */
export const renderHelpFiles = async (style: string): Promise<Map<string, string>> => {
  const files = new Map([
    ['style.css', style],
    ['index.html', document('Help', startBody(html`${aboutHelp}`))],
  ]);
  const texts: { [name: string]: string } = {};
  for (const topic of topicGroups.flatMap(({ topics }) => topics)) {
    const content = await renderTopic(topic);
    texts[topic.name] = content.text;
    files.set(`${topic.name}.html`, document(topic.title, topicBody(topic, content)));
  }
  return files.set(contentFile, JSON.stringify(texts));
};
