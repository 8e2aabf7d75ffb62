// A client of NATS in Go, with nats.go: reads one tensor and prints it, or publishes one.
//
//	peer read URL SUBJECT
//	peer publish URL SUBJECT
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats.go"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(connection *nats.Conn, subject string) {
	subscription, err := connection.SubscribeSync(subject)
	check(err)
	check(connection.Flush())
	fmt.Println("ready")
	message, err := subscription.NextMsg(time.Minute)
	check(err)

	// The tensor, in two lines:
	values := make([]float32, len(message.Data)/4)
	check(binary.Read(bytes.NewReader(message.Data), binary.LittleEndian, values))

	fmt.Printf("%s [%s] %v\n", message.Header.Get("Tensor-Dtype"), message.Header.Get("Tensor-Shape"), values)
}

func publish(connection *nats.Conn, subject string) {
	var payload bytes.Buffer
	check(binary.Write(&payload, binary.LittleEndian, []float64{1.5, -2, 1e300, 0, 5, 6}))
	header := nats.Header{"Tensor-Dtype": {"float64"}, "Tensor-Shape": {"2,3"}}
	check(connection.PublishMsg(&nats.Msg{Subject: subject, Header: header, Data: payload.Bytes()}))
	check(connection.Flush())
}

func main() {
	if len(os.Args) != 4 {
		os.Exit(2)
	}
	connection, err := nats.Connect(os.Args[2])
	check(err)
	defer connection.Close()
	if os.Args[1] == "publish" {
		publish(connection, os.Args[3])
	} else {
		read(connection, os.Args[3])
	}
}
