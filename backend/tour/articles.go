package tour

// builtIn is the site the tour shows.
func builtIn() site {
	return site{perPage: 4, articles: []article{
		{
			Slug: "the-clock-that-waits", Kind: "png", Title: "The clock that waits",
			Teaser: "In one village the church clock stops for the bus.",
			Text: []string{
				"In a village between two passes the church clock stops every morning at four minutes to seven. It waits for the bus from the valley and goes on when the driver rings a bell. Nobody there has missed the bus for sixty years.",
				"The habit began with a broken spring. A watchmaker offered to mend it, and the council voted to leave it as it was.",
			},
		},
		{
			Slug: "a-library-on-a-boat", Kind: "jpg", Title: "A library on a boat",
			Teaser: "Two thousand books travel from island to island.",
			Text: []string{
				"A former herring boat carries two thousand books along the coast. It visits eleven islands, each of them once every three weeks. Readers put a lamp in the window when they want it to stop.",
				"The shelves have a rail of oak so that nothing falls in a swell. The crew reads aloud on Sundays when the weather keeps them in port.",
			},
		},
		{
			Slug: "bread-by-bicycle", Kind: "png", Title: "Bread by bicycle",
			Teaser: "A baker delivers before the birds begin.",
			Text: []string{
				"At half past three the first bicycle leaves the bakery with forty loaves in two wooden boxes. The round is nineteen kilometres long and ends where it began. In winter the rider wears a lamp on the chest so that both hands stay on the bars.",
				"Customers hang a cloth bag on the gate. A knot in the bag means one loaf more.",
			},
		},
		{
			Slug: "the-bridge-of-borrowed-stones", Kind: "jpg", Title: "The bridge of borrowed stones",
			Teaser: "Every house gave a stone, and every stone has a name.",
			Text: []string{
				"When the old bridge fell, each of the eighty-four houses gave one stone for the new one. The names of the houses are cut into the undersides, where only the river can read them. A list hangs in the inn.",
				"One stone was lent by a family that later moved away. They come back each summer to see that it still holds.",
			},
		},
		{
			Slug: "a-map-for-the-night", Kind: "png", Title: "A map for the night",
			Teaser: "Three sisters draw the town as it sounds in the dark.",
			Text: []string{
				"Three sisters spent a winter drawing their town by ear. Their map shows fountains, a humming transformer and the dog at number nine instead of streets. It was printed in dark blue and sold out in a week.",
				"A second edition lists the hours at which the sounds begin and end.",
			},
		},
		{
			Slug: "the-orchard-without-a-fence", Kind: "jpg", Title: "The orchard without a fence",
			Teaser: "Anyone may pick, if they follow one rule.",
			Text: []string{
				"The orchard at the edge of the moor has two hundred trees and no fence. Anyone may fill a basket, and whoever does plants or grafts one tree before spring. There are more trees now than there were at the start.",
				"The rule is written on a slate by the path, and somebody keeps it readable.",
			},
		},
		{
			Slug: "letters-to-a-lighthouse", Kind: "png", Title: "Letters to a lighthouse",
			Teaser: "The keeper is gone, the mail still comes.",
			Text: []string{
				"The lighthouse has run by itself since 1987, yet about ninety letters a year are still addressed to its keeper. A retired teacher answers every one of them. Most ask about the weather, and some ask for advice.",
				"The answers are short and end with the state of the sea on the day they were written.",
			},
		},
	}}
}
