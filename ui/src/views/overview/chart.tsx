/**
 * A small chart: bars for every day, and what their colours mean. The title of a bar says its value, and a text
 * describes the whole chart.
 */

export type Series = { name: string; colour: "blue" | "red" | "amber" | "accent"; values: readonly (number | null)[] };
type Charted = {
  title: string;
  days: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
  /** Whether the values of a day add up. */
  isStacked?: boolean;
  /** Whether 0 is a value, as of a time. A count of 0 is nothing. */
  hasZero?: boolean;
};

const WIDTH = 320;
const HEIGHT = 96;
const GAP = 2;

/** The bars of a day stand on each other, or in front of each other: the larger ones come first. */
export function Chart({ title, days, series, format, isStacked = false, hasZero = false }: Charted) {
  const tops = days.map((_, place) => topsOf(series, place, isStacked));
  const most = Math.max(...tops.flat(), 0);
  const step = WIDTH / Math.max(1, days.length);
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="faint">peak {format(most)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={inWords({ title, days, series, format, hasZero })}>
        {days.map((day, place) =>
          series.map(({ name, colour, values }, number) => {
            const value = values[place] ?? 0;
            const scale = most ? (HEIGHT - 4) / most : 0;
            const height = value * scale;
            return (
              <rect
                key={`${day} ${name}`}
                data-colour={colour}
                x={place * step + GAP / 2}
                y={HEIGHT - (tops[place]?.[number] ?? 0) * scale}
                width={Math.max(1, step - GAP)}
                height={height}
              >
                <title>{`${day}: ${name} ${format(value)}`}</title>
              </rect>
            );
          }),
        )}
        <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      </svg>
      <p class="axis faint">
        <span>{days[0]}</span>
        <span>{days.at(-1)}</span>
      </p>
      {series.some(({ name }) => name !== title.toLowerCase()) && (
        <ul class="legend faint" aria-hidden="true">
          {series.map(({ name, colour }) => (
            <li key={name}>
              <i data-colour={colour} />
              {name}
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

/** Where the bars of a day end, from the ground. */
function topsOf(series: readonly Series[], place: number, isStacked: boolean): number[] {
  const values = series.map(({ values }) => values[place] ?? 0);
  return isStacked ? values.map((_, last) => values.slice(0, last + 1).reduce((sum, value) => sum + value, 0)) : values;
}

/** The days on which there was something, for people who do not see the bars. */
export function inWords({ title, days, series, format, hasZero }: Charted): string {
  const shown = days.flatMap((day, place) => {
    const values = series.flatMap(({ name, values }) => {
      const value = values[place] ?? null;
      return value === null || (value === 0 && !hasZero) ? [] : [`${name} ${format(value)}`];
    });
    return values.length ? [`${day}: ${values.join(", ")}`] : [];
  });
  return `${title}. ${shown.join(". ") || "Nothing on these days"}.`;
}
