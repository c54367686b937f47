package openai

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif" // pictures of other forms are sent as PNG
	"image/png"

	"github.com/openai/openai-go/v3"

	"gofer/backend/chat"
)

// sees reports whether the model takes pictures.
func (b *builder) sees() bool {
	return b.options.Vision && !b.profile.NoPictures && b.options.LoadBlob != nil
}

// picture returns a picture as the model can take it, or a text that stands
// for it. Servers take a data URI with PNG or JPEG; nothing else is taken by all.
func (b *builder) picture(ctx context.Context, p chat.Part) openai.ChatCompletionContentPartUnionParam {
	if !b.sees() {
		b.withheld = true
		return openai.TextContentPart(fmt.Sprintf("[picture %s, not shown: this model reads text only]", p.Name))
	}
	data, err := b.options.LoadBlob(ctx, p.Blob)
	if err != nil || len(data) == 0 {
		return openai.TextContentPart(fmt.Sprintf("[picture %s is no longer there]", p.Name))
	}
	media := p.Media
	if media == "" {
		media = "image/png"
	}
	if media != "image/png" && media != "image/jpeg" {
		if data, err = asPNG(data); err != nil {
			return openai.TextContentPart(fmt.Sprintf("[picture %s, not shown: models do not read %s]", p.Name, media))
		}
		media = "image/png"
	}
	uri := "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(data)
	return openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: uri})
}

func asPNG(data []byte) ([]byte, error) {
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = png.Encode(&out, picture)
	return out.Bytes(), err
}
