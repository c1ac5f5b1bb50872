/** Pieces of the page. Text is escaped where it becomes markup, and nowhere else. */

/** Markup, as opposed to text. */
export interface Markup {
  readonly html: string;
}

export type Content = string | Markup;

export interface Heading {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Sentences: not squeezed into a column of single words. */
  readonly isWide?: boolean;
}

export interface TableParts {
  readonly caption: string;
  readonly head: readonly Heading[];
  /** The first cell of each names the row. */
  readonly rows: readonly (readonly Content[])[];
  readonly foot?: readonly Content[] | undefined;
  /** Few columns: as wide as they need. */
  readonly isNarrow?: boolean;
}

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const markupOf = (content: Content) => (typeof content === 'string' ? escaped(content) : content.html);

export function span(className: string, text: string): Markup {
  return { html: `<span class="${className}">${escaped(text)}</span>` };
}

export function table({ caption, head, rows, foot, isNarrow }: TableParts): string {
  const classOf = (place: number) => {
    const { isNumber, isWide } = head[place] ?? {};
    return isNumber ? ' class="number"' : isWide ? ' class="wide"' : '';
  };
  const line = (cells: readonly Content[]) =>
    cells
      .map((cell, place) =>
        place === 0
          ? `<th scope="row"${classOf(place)}>${markupOf(cell)}</th>`
          : `<td${classOf(place)}>${markupOf(cell)}</td>`,
      )
      .join('');
  return [
    `<div class="scroll${isNarrow ? ' narrow' : ''}" role="region" tabindex="0" aria-label="${escaped(caption)}">`,
    '<table>',
    `<caption>${escaped(caption)}</caption>`,
    `<thead><tr>${head.map(({ title }, place) => `<th scope="col"${classOf(place)}>${escaped(title)}</th>`).join('')}</tr></thead>`,
    '<tbody>',
    ...rows.map((cells) => `<tr>${line(cells)}</tr>`),
    '</tbody>',
    ...(foot ? [`<tfoot><tr>${line(foot)}</tr></tfoot>`] : []),
    '</table>',
    '</div>',
  ].join('\n');
}

export function facts(pairs: readonly (readonly [string, Content])[]): string {
  return `<dl>\n${pairs.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${markupOf(value)}</dd>`).join('\n')}\n</dl>`;
}

export function paragraph(text: string, className?: string): string {
  return `<p${className ? ` class="${className}"` : ''}>${escaped(text)}</p>`;
}
